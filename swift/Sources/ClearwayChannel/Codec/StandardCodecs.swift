// SPDX-License-Identifier: MIT OR Apache-2.0

/// The standard codec for messages: `spec/wire.md`.
public struct StandardMessageCodec: MessageCodec, LimitedCodec, ReceivingCodec, ExtendedCodec {
  let rules: StandardRules
  /// Whether a message that is null has no bytes. A value that is null always has its type byte.
  let isEmptyNull: Bool

  /// Makes a codec with these limits.
  public init(limits: CodecLimits = .standard) {
    self.init(StandardRules(limits), isEmptyNull: true)
  }

  /// Makes a codec that also carries types of your own.
  ///
  /// Throws ``ClearwayError/Code/invalidArgument`` if two extensions have the same type or type byte.
  public init(limits: CodecLimits = .standard, extensions: [CodecExtension]) throws(ClearwayError) {
    self.init(StandardRules(limits, try Extensions.of(extensions)), isEmptyNull: true)
  }

  init(_ rules: StandardRules, isEmptyNull: Bool) {
    precondition(UInt16(1).littleEndian == 1, "unsupported-host: this host is big-endian")
    self.rules = rules
    self.isEmptyNull = isEmptyNull
  }

  var extensions: Extensions? { rules.extensions }

  /// Returns a codec of values instead of messages: null has its type byte, and no bytes are an error.
  public func ofValues() -> StandardMessageCodec {
    StandardMessageCodec(rules, isEmptyNull: false)
  }

  /// Returns the bytes of a message. Throws `too-deep`, `too-large` for a size beyond 32 bits, or
  /// `not-encodable` for a custom value without an extension.
  public func encode(_ message: Value) throws(ClearwayError) -> [UInt8] {
    try encode(message, bytesMax: .max)
  }

  func encode(_ message: Value, bytesMax: Int) throws(ClearwayError) -> [UInt8] {
    if isEmptyNull, message.isNull { return [] }
    var writer = ByteWriter(bytesMax: bytesMax)
    try writer.value(message, 0, rules)
    return writer.finish()
  }

  /// Returns the message of the bytes. Throws an error with an offset for other bytes.
  public func decode(_ bytes: UnsafeRawBufferPointer) throws(ClearwayError) -> Value {
    try decode(bytes, valuesMax: .max, attachments: nil)
  }

  func decode(_ bytes: UnsafeRawBufferPointer, valuesMax: Int, attachments: Attachments?)
    throws(ClearwayError) -> Value
  {
    if isEmptyNull, bytes.isEmpty { return .null }
    var source = StandardReader(bytes, rules, valuesMax: valuesMax, attachments: attachments)
    let value = try source.value(0)
    try source.reader.finish()
    return value
  }
}

/// The standard codec for calls, replies and events: `spec/wire.md`.
public struct StandardMethodCodec: MethodCodec, LimitedMethodCodec, ReceivingMethodCodec {
  let rules: StandardRules

  /// Makes a codec with these limits.
  public init(limits: CodecLimits = .standard) { rules = StandardRules(limits) }

  /// Makes a codec that also carries types of your own.
  ///
  /// Throws ``ClearwayError/Code/invalidArgument`` if two extensions have the same type or type byte.
  public init(limits: CodecLimits = .standard, extensions: [CodecExtension]) throws(ClearwayError) {
    rules = StandardRules(limits, try Extensions.of(extensions))
  }

  /// Returns the bytes of a call.
  public func encode(call: MethodCall) throws(ClearwayError) -> [UInt8] {
    try encode(call: call, bytesMax: .max)
  }

  func encode(call: MethodCall, bytesMax: Int) throws(ClearwayError) -> [UInt8] {
    var writer = ByteWriter(bytesMax: bytesMax)
    try writer.taggedText(call.method)
    try writer.value(call.arguments, 0, rules)
    return writer.finish()
  }

  /// Returns the bytes of a call whose arguments have a type of the app.
  func encode(_ method: String, _ arguments: some Encodable, bytesMax: Int) throws -> [UInt8] {
    let encoder = MessageEncoder(rules, bytesMax: bytesMax)
    try encoder.writer.taggedText(method)
    try encoder.write(arguments)
    return encoder.writer.finish()
  }

  /// Returns the call of the bytes.
  public func decodeCall(_ bytes: UnsafeRawBufferPointer) throws(ClearwayError) -> MethodCall {
    try decodeCall(bytes, valuesMax: .max, attachments: nil)
  }

  func decodeCall(_ bytes: UnsafeRawBufferPointer, valuesMax: Int, attachments: Attachments?)
    throws(ClearwayError) -> MethodCall
  {
    var source = StandardReader(bytes, rules, valuesMax: valuesMax, attachments: attachments)
    let method = try source.plainText()
    let arguments = try source.value(0)
    try source.reader.finish()
    return MethodCall(method, arguments)
  }

  /// Returns the bytes of a reply.
  public func encode(reply: MethodReply) throws(ClearwayError) -> [UInt8] {
    try encode(reply: reply, bytesMax: .max)
  }

  func encode(reply: MethodReply, bytesMax: Int) throws(ClearwayError) -> [UInt8] {
    var writer = ByteWriter(bytesMax: bytesMax)
    switch reply {
    case .none: return []
    case .success(let value):
      try writer.byte(Envelope.success)
      try writer.value(value, 0, rules)
    case .failure(let code, let message, let details, let stack):
      try writer.byte(Envelope.error)
      try writer.taggedText(code)
      try writer.textOrNull(message)
      try writer.value(details, 0, rules)
      if let stack { try writer.textOrNull(stack) }
    }
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
    var source = StandardReader(bytes, rules, valuesMax: valuesMax, attachments: attachments)
    let reply: MethodReply
    switch try source.reader.byte() {
    case Envelope.success: reply = .success(try source.value(0))
    case Envelope.error:
      let code = try source.plainText()
      let message = try source.textOrNull()
      let details = try source.value(0)
      let stack: String?? = source.reader.left > 0 ? .some(try source.textOrNull()) : nil
      reply = .failure(code: code, message: message, details: details, stack: stack)
    default: throw ClearwayError(.malformed, "an envelope is neither 0 nor 1", offset: 0)
    }
    try source.reader.finish()
    return reply
  }
}

/// The codec for messages that are text, in UTF-8. No bytes are the empty text.
public struct StringCodec: MessageCodec, LimitedCodec {
  /// Makes the codec.
  public init() {}

  /// Returns the text's bytes.
  public func encode(_ message: String) -> [UInt8] { Array(message.utf8) }

  func encode(_ message: String, bytesMax: Int) throws -> [UInt8] {
    if message.utf8.count > bytesMax { throw ClearwayError.tooLarge(bytesMax) }
    return encode(message)
  }

  /// Returns the text of the bytes. Throws `bad-utf8`.
  public func decode(_ bytes: UnsafeRawBufferPointer) throws(ClearwayError) -> String {
    guard let base = bytes.baseAddress else { return "" }
    return try readUTF8(base, 0, bytes.count)
  }
}

/// The codec for messages that are bytes.
public struct BinaryCodec: MessageCodec {
  /// Makes the codec.
  public init() {}

  /// Returns the message.
  public func encode(_ message: [UInt8]) -> [UInt8] { message }

  /// Returns a copy of the bytes.
  public func decode(_ bytes: UnsafeRawBufferPointer) -> [UInt8] { Array(bytes) }
}

extension MessageCodec where Self == StandardMessageCodec {
  /// The standard codec with the limits of `spec/wire.md`.
  public static var standard: StandardMessageCodec { StandardMessageCodec() }
}

extension MessageCodec where Self == StringCodec {
  /// The codec for texts.
  public static var string: StringCodec { StringCodec() }
}

extension MessageCodec where Self == BinaryCodec {
  /// The codec for bytes.
  public static var binary: BinaryCodec { BinaryCodec() }
}

extension MethodCodec where Self == StandardMethodCodec {
  /// The standard codec with the limits of `spec/wire.md`.
  public static var standard: StandardMethodCodec { StandardMethodCodec() }
}

extension ByteWriter {
  /// Writes a value with its type byte. `depth` counts the lists, maps and custom values around it.
  mutating func value(_ value: Value, _ depth: Int, _ rules: StandardRules) throws(ClearwayError) {
    switch value {
    case .null: try byte(Tag.null)
    case .bool(let flag): try byte(flag ? Tag.yes : Tag.no)
    case .int(let wide): try integer(wide)
    case .double(let number): try float64(number)
    case .string(let string): try taggedText(string)
    case .big(let big): try self.big(big)
    case .bytes(let list): try numbers(Tag.bytes, list)
    case .int32s(let list): try numbers(Tag.int32s, list)
    case .int64s(let list): try numbers(Tag.int64s, list)
    case .floats(let list): try numbers(Tag.float32s, list)
    case .doubles(let list): try numbers(Tag.float64s, list)
    case .list(let list):
      try enter(depth, rules.limits.depthMax)
      try byte(Tag.list)
      try size(list.count)
      for each in list { try self.value(each, depth + 1, rules) }
    case .map(let map):
      try enter(depth, rules.limits.depthMax)
      try byte(Tag.map)
      try size(map.count)
      for entry in map.entries {
        try self.value(entry.key, depth + 1, rules)
        try self.value(entry.value, depth + 1, rules)
      }
    case .custom(let own):
      guard let writing = rules.extensions?.of(type(of: own.base)) else { throw unknown(own) }
      try custom(own.base, writing, depth, rules)
    }
  }

  /// Writes an integer with its type byte: 32 bits if they suffice.
  @inline(__always)
  mutating func integer(_ wide: Int64) throws(ClearwayError) {
    let narrow = Int32(truncatingIfNeeded: wide)
    if Int64(narrow) == wide { try tagged(Tag.int32, narrow) } else { try tagged(Tag.int64, wide) }
  }

  /// Writes a float with its type byte.
  @inline(__always)
  mutating func float64(_ number: Double) throws(ClearwayError) {
    try byte(Tag.float64)
    try pad(8)
    try self.number(number)
  }

  @inline(__always)
  mutating func taggedText(_ text: String) throws(ClearwayError) {
    try byte(Tag.text)
    try size(text.utf8.count)
    try self.text(text)
  }

  mutating func textOrNull(_ text: String?) throws(ClearwayError) {
    if let text { try taggedText(text) } else { try byte(Tag.null) }
  }

  /// Throws `too-deep` unless a list or a map may begin inside `depth` others.
  @inline(__always)
  func enter(_ depth: Int, _ depthMax: Int) throws(ClearwayError) {
    if depth >= depthMax { throw tooDeep(depthMax) }
  }

  @inline(never)
  private func unknown(_ value: CustomValue) -> ClearwayError {
    ClearwayError(
      .notEncodable, "the codec has no extension for \(type(of: value.base))", offset: count)
  }

  @inline(never)
  private func tooDeep(_ depthMax: Int) -> ClearwayError {
    ClearwayError(.tooDeep, "values are nested deeper than \(depthMax)", offset: count)
  }

  /// Writes a list of numbers with its type byte.
  mutating func numbers<N: BitwiseCopyable>(_ tag: UInt8, _ list: [N]) throws(ClearwayError) {
    try byte(tag)
    try size(list.count)
    try pad(MemoryLayout<N>.size)
    try within(list) { bytes throws(ClearwayError) in try raw(bytes) }
  }

  private mutating func big(_ big: BigInteger) throws(ClearwayError) {
    if let small = big.int64 { return try integer(small) }
    if big.hexDigits.utf8.count > BigInteger.digitsMax {
      throw ClearwayError(.tooLarge, "a big integer of too many digits", offset: count)
    }
    try byte(Tag.big)
    try size(big.hexDigits.utf8.count + (big.isNegative ? 1 : 0))
    if big.isNegative { try byte(UInt8(ascii: "-")) }
    try text(big.hexDigits)
  }
}
