// SPDX-License-Identifier: MIT OR Apache-2.0

/// The JSON codec for messages, for peers that support only JSON.
///
/// It writes as `JSON.stringify` does: a float that is not finite becomes null, an integer beyond
/// 2^53 the nearest float, and a list of numbers an object. It reads a number as an integer if it is
/// whole and exact as float.
public struct JSONMessageCodec: MessageCodec, LimitedCodec, ReceivingCodec {
  private let limits: CodecLimits

  /// Makes a codec with these limits. `itemsMax` has no effect, because JSON announces no counts.
  public init(limits: CodecLimits = .standard) { self.limits = limits }

  /// Returns the bytes of a message. Throws `not-encodable` for a map with keys that are no text.
  public func encode(_ message: Value) throws(ClearwayError) -> [UInt8] {
    try encode(message, bytesMax: .max)
  }

  func encode(_ message: Value, bytesMax: Int) throws(ClearwayError) -> [UInt8] {
    if message.isNull { return [] }
    var writer = ByteWriter(bytesMax: bytesMax)
    try writer.json(message, 0, limits.depthMax)
    return writer.finish()
  }

  /// Returns the message of the bytes. Throws an error with an offset for other bytes.
  public func decode(_ bytes: UnsafeRawBufferPointer) throws(ClearwayError) -> Value {
    try decode(bytes, valuesMax: .max, attachments: nil)
  }

  func decode(_ bytes: UnsafeRawBufferPointer, valuesMax: Int, attachments: Attachments?)
    throws(ClearwayError) -> Value
  {
    if bytes.isEmpty { return .null }
    var reader = JsonReader(bytes, depthMax: limits.depthMax, valuesMax: valuesMax)
    return try reader.whole()
  }
}

/// The JSON codec for calls, replies and events.
public struct JSONMethodCodec: MethodCodec, LimitedMethodCodec, ReceivingMethodCodec {
  /// The envelope is not a level.
  private let depthMax: Int

  /// Makes a codec with these limits.
  public init(limits: CodecLimits = .standard) { depthMax = limits.depthMax + 1 }

  /// Returns the bytes of a call.
  public func encode(call: MethodCall) throws(ClearwayError) -> [UInt8] {
    try encode(call: call, bytesMax: .max)
  }

  func encode(call: MethodCall, bytesMax: Int) throws(ClearwayError) -> [UInt8] {
    var writer = ByteWriter(bytesMax: bytesMax)
    try writer.jsonRaw("{\"method\":")
    try writer.jsonText(call.method)
    try writer.jsonRaw(",\"args\":")
    try writer.json(call.arguments, 1, depthMax)
    try writer.jsonRaw("}")
    return writer.finish()
  }

  /// Returns the call of the bytes.
  public func decodeCall(_ bytes: UnsafeRawBufferPointer) throws(ClearwayError) -> MethodCall {
    try decodeCall(bytes, valuesMax: .max, attachments: nil)
  }

  func decodeCall(_ bytes: UnsafeRawBufferPointer, valuesMax: Int, attachments: Attachments?)
    throws(ClearwayError) -> MethodCall
  {
    var reader = JsonReader(bytes, depthMax: depthMax, valuesMax: valuesMax)
    guard case .map(let call) = try reader.whole(), case .string(let method) = call["method"] else {
      throw malformed()
    }
    return MethodCall(method, call["args"] ?? .null)
  }

  /// Returns the bytes of a reply.
  public func encode(reply: MethodReply) throws(ClearwayError) -> [UInt8] {
    try encode(reply: reply, bytesMax: .max)
  }

  func encode(reply: MethodReply, bytesMax: Int) throws(ClearwayError) -> [UInt8] {
    if reply == .none { return [] }
    var writer = ByteWriter(bytesMax: bytesMax)
    try writer.jsonRaw("[")
    switch reply {
    case .none: break
    case .success(let value): try writer.json(value, 1, depthMax)
    case .failure(let code, let message, let details, let stack):
      try writer.jsonText(code)
      try writer.jsonRaw(",")
      try writer.jsonTextOrNull(message)
      try writer.jsonRaw(",")
      try writer.json(details, 1, depthMax)
      if let stack {
        try writer.jsonRaw(",")
        try writer.jsonTextOrNull(stack)
      }
    }
    try writer.jsonRaw("]")
    return writer.finish()
  }

  /// Returns the reply of the bytes.
  public func decodeReply(_ bytes: UnsafeRawBufferPointer) throws(ClearwayError) -> MethodReply {
    try decodeReply(bytes, valuesMax: .max, attachments: nil)
  }

  func decodeReply(_ bytes: UnsafeRawBufferPointer, valuesMax: Int, attachments: Attachments?)
    throws(ClearwayError) -> MethodReply
  {
    if bytes.isEmpty { return .none }
    var reader = JsonReader(bytes, depthMax: depthMax, valuesMax: valuesMax)
    guard case .list(let parts) = try reader.whole() else { throw malformed() }
    if parts.count == 1 { return .success(parts[0]) }
    guard parts.count == 3 || parts.count == 4, case .string(let code) = parts[0] else {
      throw malformed()
    }
    return .failure(
      code: code, message: try textOrNull(parts[1]), details: parts[2],
      stack: parts.count == 4 ? .some(try textOrNull(parts[3])) : nil)
  }

  private func textOrNull(_ part: Value) throws(ClearwayError) -> String? {
    switch part {
    case .null: return nil
    case .string(let text): return text
    default: throw malformed()
    }
  }

  private func malformed() -> ClearwayError {
    ClearwayError(.malformed, "JSON that is no call or no reply", offset: 0)
  }
}

extension MessageCodec where Self == JSONMessageCodec {
  /// The JSON codec.
  public static var json: JSONMessageCodec { JSONMessageCodec() }
}

extension MethodCodec where Self == JSONMethodCodec {
  /// The JSON codec.
  public static var json: JSONMethodCodec { JSONMethodCodec() }
}
