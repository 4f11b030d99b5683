// SPDX-License-Identifier: MIT OR Apache-2.0
setInterval(() => {}, 1000);
