// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * Sends named messages, method calls and events between two endpoints, over any transport.
 *
 * The codecs encode the values as bytes: in Flutter's wire format, as JSON, as text or as raw bytes.
 *
 * @module clearway/channel
 */

export type {
  Codec,
  CodecLimits,
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
export { type CodecError, isCodecError } from "./channel/codec/codec-error.js";
export { type Extension, extension, type ValueReader, type ValueWriter } from "./channel/codec/extension.js";
export { type Float64, float64 } from "./channel/codec/float64.js";
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
export { binaryCodec, stringCodec } from "./channel/codec/text-binary.js";
export type { CallOptions } from "./channel/endpoint/calls.js";
export { connect } from "./channel/endpoint/connect.js";
export type { Endpoint, EndpointStats } from "./channel/endpoint/endpoint.js";
export type { EventStream } from "./channel/endpoint/event-stream.js";
export type { EventSource, Events } from "./channel/endpoint/events.js";
export type { ChannelCopyReason, ChannelLedger, ChannelLedgerSide } from "./channel/endpoint/ledger.js";
export { type ListenOptions, latest, type ServeOptions } from "./channel/endpoint/listen-options.js";
export type { MessageHandler, Messages } from "./channel/endpoint/messages.js";
export { type MethodHandler, type MethodHandlers, type Methods, notImplemented } from "./channel/endpoint/methods.js";
export type { EndpointOptions } from "./channel/endpoint/options.js";
export { type Outcome, type OutcomeKind, outcome } from "./channel/endpoint/outcome.js";
export { RemoteError, type RemoteErrorParts } from "./channel/endpoint/remote-error.js";
export type { HandlerContext } from "./channel/endpoint/served.js";
export type { EventSink } from "./channel/endpoint/source.js";
export type { WhenFull } from "./channel/endpoint/source-queue.js";
export { type Caller, type ChannelSchema, schema } from "./channel/schema/channel-schema.js";
export type { Callers, HandlersOf, Listeners, MethodsOf, SourcesOf } from "./channel/schema/facade-types.js";
export {
  type EventData,
  type EventShape,
  type MethodData,
  type MethodShape,
  readSchema,
  type SchemaData,
  type SchemaShape,
} from "./channel/schema/schema.js";
export type { FieldShape, TypeShape } from "./channel/schema/shape.js";
export type { NamedTypes, ReadOf, StructFields, Type, TypeName, WriteOf } from "./channel/schema/type.js";
export type { ValidationIssueParts } from "./channel/schema/validated.js";
export type { TransportLimits } from "./channel/transport/limits.js";
export { memoryPair } from "./channel/transport/memory.js";
export { type PortOptions, portTransport } from "./channel/transport/port.js";
export type { PortLike } from "./channel/transport/port-like.js";
export type { ChannelSink, ChannelTransport, CloseCode, CloseReason } from "./channel/transport/transport.js";
export type { ValueFrame } from "./channel/transport/value-frame.js";
export type { WireName } from "./channel/wire/hello.js";
export { type ChannelErrorCode, channelErrorCodes } from "./error/channel-codes.js";
export { ClearwayError } from "./error/clearway-error.js";
export { type CodecErrorCode, codecErrorCodes } from "./error/codec-codes.js";
export type { ErrorCode } from "./error/codes.js";
export { type Moved, move } from "./transfer/move.js";
