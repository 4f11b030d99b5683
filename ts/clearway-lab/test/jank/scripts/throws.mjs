// SPDX-License-Identifier: MIT OR Apache-2.0
function block(ms) {
  const end = performance.now() + ms;
  while (performance.now() < end);
}
block(200);
throw new Error("broken on purpose");
