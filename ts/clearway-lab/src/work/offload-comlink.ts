// SPDX-License-Identifier: MIT OR Apache-2.0
import * as Comlink from "comlink";
import { parent } from "#lab-host";
import { actions } from "../offload/action.js";

Comlink.expose(actions, parent().endpoint());
