// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * Transfer handlers: how instances of classes cross threads. Import it on both sides.
 *
 * @module clearway/transfer
 */

export { registerTransfer, type TransferHandler } from "./handler/handler.js";
export type { CrossesAs, crossesAs } from "./transfer/crossing.js";
