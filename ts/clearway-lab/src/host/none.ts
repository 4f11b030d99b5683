// SPDX-License-Identifier: MIT OR Apache-2.0
// What a page has in place of the parts that need Node: nothing. A page can neither start processes nor load native code, and Piscina,
// tinypool and poolifier need Node's worker_threads.
export const nodeArms = {};
export const nodeOnly = {};
export const nodePools = {};
