// SPDX-License-Identifier: MIT OR Apache-2.0
// A part whose operations succeed.
export const open = () => ({
  width: 2,
  renewEach: 0,
  closing: [],
  operations: [{ name: "nothing", weight: 1, run: async () => {} }],
  close: async () => {},
});
