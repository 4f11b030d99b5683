// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * Sends named messages, method calls and events between two endpoints, over any transport.
 *
 * The codecs encode the values as bytes: in Flutter's wire format, as JSON, as text or as raw bytes.
 *
 * @module clearway/channel
 */

export {
  type Codec,
  type CodecError,
  type CodecLimits,
  type CodecName,
  type DecodeOptions,
  isCodecError,
  type MessageCodec,
  type MethodCall,
  type MethodCodec,
  type MethodError,
  type MethodReply,
  type MethodSuccess,
  type NoReply,
} from "./channel/codec/codec.js";
export { type Extension, extension, type ValueReader, type ValueWriter } from "./channel/codec/extension.js";
export {
  type JsonMessageCodec,
  type JsonMethodCodec,
  type JsonOptions,
  jsonMessageCodec,
  jsonMethodCodec,
} from "./channel/codec/json.js";
export {
  type StandardMessageCodec,
  type StandardMethodCodec,
  type StandardOptions,
  standardMessageCodec,
  standardMethodCodec,
} from "./channel/codec/standard.js";
export { type Float64, float64 } from "./channel/codec/tags.js";
export { binaryCodec, stringCodec } from "./channel/codec/text.js";
export type { ChannelCopyReason, ChannelLedger, ChannelLedgerSide } from "./channel/endpoint/attachments.js";
export type { CallOptions } from "./channel/endpoint/calls.js";
export { connect, type Endpoint, type EndpointStats } from "./channel/endpoint/endpoint.js";
export type { EventStream } from "./channel/endpoint/event-stream.js";
export type { EventSource, Events } from "./channel/endpoint/events.js";
export type { MessageHandler, Messages } from "./channel/endpoint/messages.js";
export { type MethodHandler, type MethodHandlers, type Methods, notImplemented } from "./channel/endpoint/methods.js";
export type { EndpointOptions } from "./channel/endpoint/options.js";
export { type ListenOptions, latest, type ServeOptions } from "./channel/endpoint/options.js";
export {
  type Outcome,
  type OutcomeKind,
  outcome,
  RemoteError,
  type RemoteErrorParts,
} from "./channel/endpoint/outcome.js";
export type { HandlerContext } from "./channel/endpoint/served.js";
export type { EventSink } from "./channel/endpoint/source.js";
export type { WhenFull } from "./channel/endpoint/source-queue.js";
export {
  type Caller,
  type Callers,
  type ChannelSchema,
  type HandlersOf,
  type Listeners,
  type MethodsOf,
  type SourcesOf,
  schema,
} from "./channel/schema/channel-schema.js";
export {
  type EventData,
  type EventShape,
  type FieldShape,
  type MethodData,
  type MethodShape,
  type NamedTypes,
  type ReadOf,
  readSchema,
  type SchemaData,
  type SchemaShape,
  type StructFields,
  type Type,
  type TypeName,
  type TypeShape,
  type WriteOf,
} from "./channel/schema/schema.js";
export type { ValidationIssueParts } from "./channel/schema/validator.js";
export { memoryPair } from "./channel/transport/memory.js";
export type { PortLike, PortOptions } from "./channel/transport/port-like.js";
export { portTransport } from "./channel/transport/port-transports.js";
export type {
  ChannelSink,
  ChannelTransport,
  CloseCode,
  CloseReason,
  TransportLimits,
  ValueFrame,
} from "./channel/transport/transport.js";
export type { WireName } from "./channel/wire/frame.js";
export {
  type ChannelErrorCode,
  ClearwayError,
  type CodecErrorCode,
  channelErrorCodes,
  codecErrorCodes,
  type ErrorCode,
} from "./error/clearway-error.js";
export { type Moved, move } from "./transfer/move.js";
