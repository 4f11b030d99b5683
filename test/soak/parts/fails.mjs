// SPDX-License-Identifier: MIT OR Apache-2.0
// A part with an error that no operation expects, one that is expected, and one that no handler catches.
import { open as quiet } from "./quiet.mjs";

export const open = () => ({
  ...quiet(),
  operations: [
    {
      name: "both",
      weight: 1,
      expected: ["RangeError"],
      async run() {
        void Promise.reject(new Error("no handler catches this"));
        await new Promise((resolve) => setTimeout(resolve));
        throw new TypeError("no operation expects this");
      },
    },
    {
      name: "expected",
      weight: 1,
      expected: ["RangeError"],
      async run() {
        throw new RangeError("on purpose");
      },
    },
  ],
});
