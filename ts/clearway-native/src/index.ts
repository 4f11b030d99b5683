// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * The module for native plugins in Node. A plugin is a library in Rust or C. The module loads plugins, calls them, lends them memory and
 * reads their events. See `docs/native.md`.
 *
 * @module clearway-native
 */

export type { NativeFeatures, ViewKind } from "./addon.js";
export { NativeError, type NativeErrorCode, nativeErrorCodes } from "./error.js";
export { type ListenOptions, latest, type NativeEvents, type WhenFull } from "./events.js";
export type { NativeCopyReason, NativeLedger, NativeLedgerSide } from "./ledger.js";
export type { NativeMemory } from "./memory.js";
export type { Attachments, LentMemory, NativeMessage, Payload } from "./message.js";
export {
  loadPlugin,
  type NativeChannel,
  nativeFeatures,
  type Plugin,
  type PluginOptions,
  type PluginStats,
  type SendOptions,
} from "./plugin.js";
