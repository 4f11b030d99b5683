// SPDX-License-Identifier: MIT OR Apache-2.0
import * as Comlink from "comlink";
import { parent } from "#lab-host";
import { runPoolTask } from "../isolate/pool-task.js";

const remote = { run: runPoolTask };

export type ComlinkPool = typeof remote;

Comlink.expose(remote, parent().endpoint());
