// SPDX-License-Identifier: MIT OR Apache-2.0
// For Piscina and tinypool: a module whose default export is the task.
export { runPoolTask as default } from "#lab-pool-work";
