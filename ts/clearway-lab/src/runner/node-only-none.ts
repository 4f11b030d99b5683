// SPDX-License-Identifier: MIT OR Apache-2.0
// The browser's counterpart of node-only.ts: a page starts no processes and loads no native code.
import type { Loader } from "./loader.js";

export const nodeOnly: Record<string, Loader[]> = {};
