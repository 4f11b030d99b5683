// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Mechanism } from "../protocol/measured.js";
import { comlinkKind } from "./kind-comlink.js";
import { workerChannel } from "./worker.js";

export const workerComlink: Record<string, Mechanism> = { comlink: workerChannel(comlinkKind, "channel-comlink") };
