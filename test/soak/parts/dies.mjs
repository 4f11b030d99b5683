// SPDX-License-Identifier: MIT OR Apache-2.0
// A part whose process ends during an operation.
import { open as quiet } from "./quiet.mjs";

export const open = () => ({ ...quiet(), operations: [{ name: "end", weight: 1, run: async () => process.exit(7) }] });
