// SPDX-License-Identifier: MIT OR Apache-2.0
function spin() {
  for (;;);
}
setTimeout(spin, 50);
