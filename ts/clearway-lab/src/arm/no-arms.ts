// SPDX-License-Identifier: MIT OR Apache-2.0
// Replaces node-arms.ts in a page.
export const nodeArms = {};
