// SPDX-License-Identifier: MIT OR Apache-2.0
const text = JSON.stringify(Array.from({ length: 30_000 }, (_, id) => ({ id, name: "name " + id })));
setTimeout(function readAll() {
  const end = performance.now() + 400;
  while (performance.now() < end) JSON.parse(text);
}, 50);
