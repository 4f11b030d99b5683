// SPDX-License-Identifier: MIT OR Apache-2.0

/// Converts messages of a channel to bytes and back.
public protocol MessageCodec<Message>: Sendable {
  /// The type of the messages.
  associatedtype Message: Sendable

  /// Returns the bytes of a message.
  func encode(_ message: Message) throws -> [UInt8]

  /// Returns the message of the bytes. It must not keep the memory.
  func decode(_ bytes: UnsafeRawBufferPointer) throws -> Message
}

extension MessageCodec {
  /// Returns the message of the bytes.
  public func decode(_ bytes: [UInt8]) throws -> Message {
    try bytes.withUnsafeBytes { try decode($0) }
  }
}

/// A call of a method, as a method codec carries it.
public struct MethodCall: Sendable, Equatable {
  /// The method's name.
  public let method: String
  /// The arguments.
  public let arguments: Value

  /// Makes a call.
  public init(_ method: String, _ arguments: Value = .null) {
    self.method = method
    self.arguments = arguments
  }
}

/// A reply to a call of a method.
public enum MethodReply: Sendable, Equatable {
  /// The handler's result.
  case success(Value)
  /// The handler's error. `stack` is nil unless the reply has a stack trace; it may then be null.
  case failure(code: String, message: String?, details: Value, stack: String?? = nil)
  /// No bytes: there is no such method, or no handler.
  case none
}

/// Converts calls of methods, their replies, and events to bytes and back.
public protocol MethodCodec: Sendable {
  /// Returns the bytes of a call.
  func encode(call: MethodCall) throws(ClearwayError) -> [UInt8]
  /// Returns the call of the bytes.
  func decodeCall(_ bytes: UnsafeRawBufferPointer) throws(ClearwayError) -> MethodCall
  /// Returns the bytes of a reply.
  func encode(reply: MethodReply) throws(ClearwayError) -> [UInt8]
  /// Returns the reply of the bytes.
  func decodeReply(_ bytes: UnsafeRawBufferPointer) throws(ClearwayError) -> MethodReply
}

extension MethodCodec {
  /// Returns the call of the bytes.
  public func decodeCall(_ bytes: [UInt8]) throws(ClearwayError) -> MethodCall {
    try within(bytes) { bytes throws(ClearwayError) in try decodeCall(bytes) }
  }

  /// Returns the reply of the bytes.
  public func decodeReply(_ bytes: [UInt8]) throws(ClearwayError) -> MethodReply {
    try within(bytes) { bytes throws(ClearwayError) in try decodeReply(bytes) }
  }
}

/// Calls `body` with the memory of the list, and keeps the type of its error.
@inline(__always)
func within<N, R>(
  _ list: [N], _ body: (UnsafeRawBufferPointer) throws(ClearwayError) -> R
) throws(ClearwayError) -> R {
  let result: Result<R, ClearwayError> = list.withUnsafeBytes { memory in
    do throws(ClearwayError) {
      return .success(try body(memory))
    } catch {
      return .failure(error)
    }
  }
  return try result.get()
}

/// Calls `body` with the UTF-8 of the text, and keeps the type of its error.
@inline(__always)
func within<R>(
  _ text: String, _ body: (UnsafeRawBufferPointer) throws(ClearwayError) -> R
) throws(ClearwayError) -> R {
  var text = text
  let result: Result<R, ClearwayError> = text.withUTF8 { memory in
    do throws(ClearwayError) {
      return .success(try body(UnsafeRawBufferPointer(memory)))
    } catch {
      return .failure(error)
    }
  }
  return try result.get()
}

/// A codec that refuses a message as soon as its bytes exceed a limit, and not after all were written.
protocol LimitedCodec {
  associatedtype Message: Sendable
  /// Returns the bytes of a message. Throws `too-large` for more than `bytesMax`.
  func encode(_ message: Message, bytesMax: Int) throws -> [UInt8]
}

protocol LimitedMethodCodec {
  func encode(call: MethodCall, bytesMax: Int) throws(ClearwayError) -> [UInt8]
  func encode(reply: MethodReply, bytesMax: Int) throws(ClearwayError) -> [UInt8]
}

/// What an endpoint needs of a codec beyond the protocol: limits per message, and attachments.
protocol ReceivingCodec {
  associatedtype Message: Sendable
  func decode(_ bytes: UnsafeRawBufferPointer, valuesMax: Int, attachments: Attachments?)
    throws(ClearwayError) -> Message
}

/// A codec of types of the application that an endpoint gives a limit of values.
protocol CountingCodec {
  associatedtype Message: Sendable
  func decode(_ bytes: UnsafeRawBufferPointer, valuesMax: Int) throws -> Message
  /// Returns the message as a value, for the error that names a part that does not fit.
  func value(_ bytes: UnsafeRawBufferPointer, _ valuesMax: Int) throws -> Value
}

protocol ReceivingMethodCodec {
  func decodeCall(_ bytes: UnsafeRawBufferPointer, valuesMax: Int, attachments: Attachments?)
    throws(ClearwayError) -> MethodCall
  func decodeReply(_ bytes: UnsafeRawBufferPointer, valuesMax: Int, attachments: Attachments?)
    throws(ClearwayError) -> MethodReply
}

/// Returns the bytes of a message. A codec of this library throws `too-large` before it has written more
/// than `bytesMax`. Another one writes them all, and the caller checks the size.
func limited<C: MessageCodec>(_ codec: C, _ message: C.Message, _ bytesMax: Int) throws -> [UInt8] {
  func encode<L: LimitedCodec>(_ codec: L) throws -> [UInt8]? {
    guard let message = message as? L.Message else { return nil }
    return try codec.encode(message, bytesMax: bytesMax)
  }
  if let codec = codec as? any LimitedCodec, let bytes = try encode(codec) { return bytes }
  return try codec.encode(message)
}

/// What a codec accepts at most.
public struct CodecLimits: Sendable, Equatable {
  /// The deepest nesting that this host supports. Values are freed recursively, on small stacks, too.
  public static let deepest = 1_000

  /// The number of lists and maps that may be inside each other.
  public let depthMax: Int
  /// The number of values that the counts of one message may announce. A map's entry counts as two.
  public let itemsMax: Int

  /// Makes limits. Throws ``ClearwayError/Code/invalidArgument`` for a limit out of its range.
  public init(depthMax: Int = 128, itemsMax: Int = 16_777_216) throws(ClearwayError) {
    try check("depthMax", depthMax, in: 1...Self.deepest)
    try check("itemsMax", itemsMax, in: 1...Int.max)
    self.init(validDepth: depthMax, items: itemsMax)
  }

  init(validDepth: Int, items: Int) {
    depthMax = validDepth
    itemsMax = items
  }

  /// The limits of `spec/wire.md`.
  public static let standard = CodecLimits(validDepth: 128, items: 16_777_216)
}

/// Throws ``ClearwayError/Code/invalidArgument`` with the name and the value if it is out of range.
func check<N: BinaryInteger>(_ name: String, _ value: N, in range: ClosedRange<N>)
  throws(ClearwayError)
{
  if range.contains(value) { return }
  let most = range.upperBound == N(Int.max) ? "" : " and at most \(range.upperBound)"
  throw ClearwayError(
    .invalidArgument, "\(name) must be at least \(range.lowerBound)\(most): \(name)=\(value)")
}
