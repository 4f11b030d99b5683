// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * Transfer handlers: how instances of classes cross threads. Import it on both sides.
 *
 * @module clearway/transfer
 */

export { registerTransfer } from "./handler/register.js";
export type { TransferHandler } from "./handler/registry.js";
export type { CrossesAs, crossesAs } from "./transfer/crossing.js";
