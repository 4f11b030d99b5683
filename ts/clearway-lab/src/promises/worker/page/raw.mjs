// SPDX-License-Identifier: MIT OR Apache-2.0
// The minimal worker: it receives an id and a number, and returns the id with the doubled number.
addEventListener("message", ({ data: { id, value } }) => postMessage({ id, value: value * 2 }));
