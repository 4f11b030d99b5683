// SPDX-License-Identifier: MIT OR Apache-2.0
// The pools of libraries that exist in Node only. A file of its own, so that no other arm loads them.
import { piscinaTuned } from "../../isolate/pool-peers.js";
import type { OpenArm } from "../work.js";
import { arm } from "./pool.js";

export const piscina: OpenArm = arm(piscinaTuned);
