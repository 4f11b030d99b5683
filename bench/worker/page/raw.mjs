// SPDX-License-Identifier: MIT OR Apache-2.0
// The least that a worker can do: an id comes with a number, the id goes back with its double.
addEventListener("message", ({ data: { id, value } }) => postMessage({ id, value: value * 2 }));
