// SPDX-License-Identifier: MIT OR Apache-2.0
// Piscina and tinypool call a module's default export.
export default (value) => value * 2;
