// SPDX-License-Identifier: MIT OR Apache-2.0
// The browser's counterpart of node-only.ts. A page can neither start processes nor load native code.
import type { Loader } from "./loader.js";

export const nodeOnly: Record<string, Loader[]> = {};
