// SPDX-License-Identifier: MIT OR Apache-2.0
// A part with an operation that does not settle.
import { open as quiet } from "./quiet.mjs";

export const open = () => ({
  ...quiet(),
  operations: [{ name: "silence", weight: 1, run: () => new Promise(() => {}) }],
});
