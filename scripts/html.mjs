// SPDX-License-Identifier: MIT OR Apache-2.0
const entities = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Returns a text with the characters escaped that HTML gives a meaning. */
export const escaped = (text) => String(text).replace(/[&<>"']/g, (character) => entities[character]);
