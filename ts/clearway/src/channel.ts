// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * `clearway/channel`: how the values of channels become bytes, in Flutter's wire format, JSON, text or bytes as they are.
 *
 * @module
 */
export { binaryCodec } from "./channel/codec/binary.js";
export type {
  Codec,
  CodecName,
  DecodeOptions,
  MessageCodec,
  MethodCall,
  MethodCodec,
  MethodError,
  MethodReply,
  MethodSuccess,
  NoReply,
} from "./channel/codec/codec.js";
export { type Extension, extension, type ValueReader, type ValueWriter } from "./channel/codec/extension.js";
export { type Float64, float64 } from "./channel/codec/float64.js";
export { type JsonMessageCodec, type JsonOptions, jsonMessageCodec } from "./channel/codec/json-message.js";
export { type JsonMethodCodec, jsonMethodCodec } from "./channel/codec/json-method.js";
export type { CodecLimits } from "./channel/codec/limits.js";
export { type CodecError, isCodecError } from "./channel/codec/refusal.js";
export {
  type StandardMessageCodec,
  type StandardOptions,
  standardMessageCodec,
} from "./channel/codec/standard-message.js";
export { type StandardMethodCodec, standardMethodCodec } from "./channel/codec/standard-method.js";
export { stringCodec } from "./channel/codec/string.js";
export type { TransportLimits } from "./channel/transport/limits.js";
export { memoryPair } from "./channel/transport/memory.js";
export { portTransport } from "./channel/transport/port.js";
export type { PortLike } from "./channel/transport/port-like.js";
export type { ChannelSink, ChannelTransport, CloseCode, CloseReason } from "./channel/transport/transport.js";
export { ClearwayError } from "./error/clearway-error.js";
export { type CodecErrorCode, codecErrorCodes } from "./error/codec-codes.js";
export type { ErrorCode } from "./error/codes.js";
