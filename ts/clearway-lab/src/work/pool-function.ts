// SPDX-License-Identifier: MIT OR Apache-2.0
// A module for Piscina and tinypool: its default export is the task.
export { runPoolTask as default } from "../isolate/pool-task.js";
