// SPDX-License-Identifier: MIT OR Apache-2.0
// The browser's twin of node-only.ts: a page starts no processes.
import type { Mechanism } from "../mechanism/measured.js";

export const processBare: Record<string, Mechanism> = {};
