// SPDX-License-Identifier: MIT OR Apache-2.0
// The browser's counterpart of pool-peers.ts: Piscina, tinypool and poolifier need Node's worker_threads.
import type { Mechanism } from "../protocol/measured.js";

export const nodePools: Record<string, Mechanism> = {};
