// SPDX-License-Identifier: MIT OR Apache-2.0

/// Writes the body of a value of your own type.
///
/// A body that makes a message larger than any frame fails with ``ClearwayError/Code/tooLarge``; what
/// is written after that is dropped.
public struct ExtensionWriter: ~Copyable {
  private var writer: ByteWriter
  private let rules: StandardRules
  /// The lists, maps and custom values around a value of the body.
  private let depth: Int
  /// Why a part that throws nothing could not be written. Later parts are dropped.
  fileprivate private(set) var failure: ClearwayError?

  fileprivate init(_ writer: consuming ByteWriter, _ rules: StandardRules, depth: Int) {
    self.writer = writer
    self.rules = rules
    self.depth = depth
  }

  fileprivate consuming func release() -> ByteWriter { writer }

  private mutating func put(
    _ write: (inout ByteWriter) throws(ClearwayError) -> Void
  ) {
    if failure != nil { return }
    do throws(ClearwayError) {
      try write(&writer)
    } catch {
      failure = error
    }
  }

  /// The number of bytes in the message so far.
  public var offset: Int { writer.count }

  /// Writes a byte.
  public mutating func uint8(_ value: UInt8) {
    put { writer throws(ClearwayError) in try writer.byte(value) }
  }

  /// Writes an integer of 32 bits, without padding.
  public mutating func int32(_ value: Int32) {
    put { writer throws(ClearwayError) in try writer.number(value) }
  }

  /// Writes an integer of 64 bits, without padding.
  public mutating func int64(_ value: Int64) {
    put { writer throws(ClearwayError) in try writer.number(value) }
  }

  /// Writes padding up to a multiple of 8, then a float of 64 bits.
  public mutating func float64(_ value: Double) {
    put { writer throws(ClearwayError) in
      try writer.pad(8)
      try writer.number(value)
    }
  }

  /// Writes a size or a count in 1, 3 or 5 bytes.
  ///
  /// Throws ``ClearwayError/Code/invalidArgument`` for a negative one, and
  /// ``ClearwayError/Code/tooLarge`` above 32 bits.
  public mutating func size(_ size: Int) throws(ClearwayError) {
    try check("size", size, in: 0...Int.max)
    try writer.size(size)
  }

  /// Copies bytes into the message, without a size.
  public mutating func bytes(_ bytes: [UInt8]) {
    put { writer throws(ClearwayError) in
      try within(bytes) { bytes throws(ClearwayError) in try writer.raw(bytes) }
    }
  }

  /// Writes the size of a text and its UTF-8, without a type byte.
  public mutating func text(_ text: String) throws(ClearwayError) {
    try writer.size(text.utf8.count)
    try writer.text(text)
  }

  /// Writes zeros up to a multiple of 1, 2, 4 or 8 bytes, counted from the start of the message.
  ///
  /// Throws ``ClearwayError/Code/invalidArgument`` for another number.
  public mutating func pad(to alignment: Int) throws(ClearwayError) {
    try check(alignment: alignment)
    try writer.pad(alignment)
  }

  /// Writes a value with its type byte. It is nested one level deeper than the value of your type.
  public mutating func value(_ value: Value) throws(ClearwayError) {
    try writer.value(value, depth, rules)
  }
}

/// Reads the body of a value of your own type.
///
/// A function that reads throws ``ClearwayError/Code/truncated`` if the message ends too soon.
public struct ExtensionReader: ~Copyable {
  private var source: StandardReader
  private let depth: Int

  fileprivate init(_ source: StandardReader, depth: Int) {
    self.source = source
    self.depth = depth
  }

  fileprivate consuming func release() -> StandardReader { source }

  /// The offset of the next byte, counted from the start of the message.
  public var offset: Int { source.reader.at }

  /// The bytes that remain in the message. The values after this one are among them.
  public var left: Int { source.reader.left }

  /// Reads a byte.
  public mutating func uint8() throws(ClearwayError) -> UInt8 { try source.reader.byte() }

  /// Reads an integer of 32 bits.
  public mutating func int32() throws(ClearwayError) -> Int32 {
    try source.reader.number(Int32.self)
  }

  /// Reads an integer of 64 bits.
  public mutating func int64() throws(ClearwayError) -> Int64 {
    try source.reader.number(Int64.self)
  }

  /// Skips padding up to a multiple of 8, then reads a float of 64 bits.
  public mutating func float64() throws(ClearwayError) -> Double { try source.reader.float64() }

  /// Reads a size or a count of up to 32 bits. It may exceed the rest of the message.
  public mutating func size() throws(ClearwayError) -> Int { try source.reader.size() }

  /// Returns a copy of the next bytes.
  ///
  /// Throws ``ClearwayError/Code/invalidArgument`` for a negative count.
  public mutating func bytes(_ count: Int) throws(ClearwayError) -> [UInt8] {
    try check("count", count, in: 0...Int.max)
    let from = source.reader.at
    try source.reader.skip(count)
    return copied(
      UnsafeRawBufferPointer(start: source.reader.base + from, count: count), as: UInt8.self)
  }

  /// Reads a text with its size. Throws ``ClearwayError/Code/badUTF8``.
  public mutating func text() throws(ClearwayError) -> String { try source.reader.text() }

  /// Skips padding up to a multiple of 1, 2, 4 or 8 bytes, counted from the start of the message.
  ///
  /// Throws ``ClearwayError/Code/invalidArgument`` for another number.
  public mutating func pad(to alignment: Int) throws(ClearwayError) {
    try check(alignment: alignment)
    try source.reader.pad(alignment, source.reader.at)
  }

  /// Reads a value with its type byte. It is nested one level deeper than the value of your type.
  public mutating func value() throws(ClearwayError) -> Value {
    try source.charge(1, source.reader.at)
    return try source.value(depth)
  }
}

private func check(alignment: Int) throws(ClearwayError) {
  if [1, 2, 4, 8].contains(alignment) { return }
  throw ClearwayError(
    .invalidArgument, "alignment must be 1, 2, 4 or 8: alignment=\(alignment)")
}

extension ByteWriter {
  /// Writes a value of an app's type with its type byte.
  mutating func custom(
    _ value: Any, _ own: CodecExtension, _ depth: Int, _ rules: StandardRules
  ) throws(ClearwayError) {
    try enter(depth, rules.limits.depthMax)
    let from = count
    try byte(own.tag)
    var body = ExtensionWriter(self, rules, depth: depth + 1)
    var failure: ClearwayError?
    do {
      try own.write(value, &body)
      failure = body.failure
    } catch {
      failure =
        error as? ClearwayError
        ?? ClearwayError(
          .notEncodable, "the extension of type \(own.tag) could not write: \(error)", offset: from)
    }
    self = body.release()
    if let failure { throw failure }
  }
}

extension StandardReader {
  /// Reads a value of an app's type after its type byte.
  mutating func custom(_ own: CodecExtension, _ depth: Int) throws(ClearwayError) -> CustomValue {
    let from = reader.at - 1
    try enter(depth)
    var body = ExtensionReader(lent(), depth: depth + 1)
    let result: Result<CustomValue, ClearwayError>
    do {
      result = .success(try own.read(&body))
    } catch {
      result = .failure(
        error as? ClearwayError
          ?? ClearwayError(
            .malformed, "the extension of type \(own.tag) could not read: \(error)", offset: from))
    }
    self = body.release()
    return try result.get()
  }
}
