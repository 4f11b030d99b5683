// SPDX-License-Identifier: MIT OR Apache-2.0
function block(ms) {
  const end = performance.now() + ms;
  while (performance.now() < end);
}
setTimeout(() => {
  block(200);
  process.exit(3);
}, 20);
