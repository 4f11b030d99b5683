// SPDX-License-Identifier: MIT OR Apache-2.0
// What only apps with Arrow tables need. The build makes one file of it, because its state belongs to two entries: `clearway/records` loads it
// when it is needed, and `clearway/records/arrow` gives it the package.
export { fromArrow } from "./from-arrow.js";
export { registerArrow } from "./load.js";
export { toArrow } from "./to-arrow.js";
