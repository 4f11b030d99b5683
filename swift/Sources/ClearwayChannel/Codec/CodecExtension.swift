// SPDX-License-Identifier: MIT OR Apache-2.0

/// A type of your own that the standard codec carries.
///
/// On the wire, a value of the type is a type byte from 128 to 255, then the body that the extension
/// writes. Both ends need an extension with this type byte, in any language. It applies to exactly
/// this type. Several threads may call its functions at the same time.
public struct CodecExtension: Sendable {
  /// The type byte.
  public let tag: UInt8
  let type: any Any.Type
  let write: @Sendable (Any, inout ExtensionWriter) throws -> Void
  let read: @Sendable (inout ExtensionReader) throws -> CustomValue
  let wrap: @Sendable (Any) -> CustomValue?

  /// Makes an extension.
  ///
  /// `read` reads exactly the bytes that `write` wrote. A ``ClearwayError`` that they throw reaches
  /// the caller of the codec. Another error becomes ``ClearwayError/Code/notEncodable`` or
  /// ``ClearwayError/Code/malformed``.
  ///
  /// Throws ``ClearwayError/Code/invalidArgument`` for a type byte below 128, and for a type that the
  /// codec carries without an extension.
  public init<T: Hashable & Sendable>(
    tag: UInt8, _ type: T.Type = T.self,
    write: @escaping @Sendable (_ value: T, _ writer: inout ExtensionWriter) throws -> Void,
    read: @escaping @Sendable (_ reader: inout ExtensionReader) throws -> T
  ) throws(ClearwayError) {
    try check("tag", Int(tag), in: Int(Tag.extensionMin)...Int(UInt8.max))
    if builtIn.contains(ObjectIdentifier(type)) {
      throw ClearwayError(.invalidArgument, "the codec carries this type already: type=\(type)")
    }
    self.tag = tag
    self.type = type
    self.write = { value, writer in
      if let value = value as? T { try write(value, &writer) }
    }
    self.read = { reader in CustomValue(try read(&reader)) }
    wrap = { value in (value as? T).map { CustomValue($0) } }
  }
}

/// The types that the codec writes itself.
private let builtIn: Set<ObjectIdentifier> = {
  let types: [any Any.Type] = [
    Value.self, String.self, Bool.self, Double.self, Float.self, Int.self, Int8.self, Int16.self,
    Int32.self, Int64.self, UInt.self, UInt8.self, UInt16.self, UInt32.self, UInt64.self,
    [UInt8].self, [Int32].self, [Int64].self, [Int].self, [Float].self, [Double].self,
    [String].self,
  ]
  return Set(types.map { ObjectIdentifier($0) })
}()

/// The extensions of a codec: by type for encoding, by type byte for decoding.
final class Extensions: Sendable {
  private let byType: [ObjectIdentifier: CodecExtension]
  private let byTag: [UInt8: CodecExtension]

  /// Returns nil for no extensions. Throws `invalid-argument` for a type or a type byte that two have.
  static func of(_ all: [CodecExtension]) throws(ClearwayError) -> Extensions? {
    if all.isEmpty { return nil }
    var byType: [ObjectIdentifier: CodecExtension] = [:]
    var byTag: [UInt8: CodecExtension] = [:]
    for each in all {
      if byTag.updateValue(each, forKey: each.tag) != nil {
        throw ClearwayError(
          .invalidArgument, "two extensions have the same type byte: tag=\(each.tag)")
      }
      if byType.updateValue(each, forKey: ObjectIdentifier(each.type)) != nil {
        throw ClearwayError(
          .invalidArgument, "two extensions have the same type: type=\(each.type)")
      }
    }
    return Extensions(byType, byTag)
  }

  private init(_ byType: [ObjectIdentifier: CodecExtension], _ byTag: [UInt8: CodecExtension]) {
    self.byType = byType
    self.byTag = byTag
  }

  func of(_ type: any Any.Type) -> CodecExtension? { byType[ObjectIdentifier(type)] }
  func of(tag: UInt8) -> CodecExtension? { byTag[tag] }
}

/// What a standard codec accepts and carries.
struct StandardRules: Sendable {
  let limits: CodecLimits
  let extensions: Extensions?

  init(_ limits: CodecLimits, _ extensions: Extensions? = nil) {
    self.limits = limits
    self.extensions = extensions
  }

  /// The same extensions without limits, for bytes that were checked before.
  var unlimited: StandardRules {
    StandardRules(CodecLimits(validDepth: .max, items: .max), extensions)
  }
}

/// A codec with extensions.
protocol ExtendedCodec {
  var extensions: Extensions? { get }
}

/// A value of a type of your own. A ``CodecExtension`` writes and reads it.
public struct CustomValue: Sendable, Hashable {
  /// A reference keeps a ``Value`` small.
  private final class Box: Sendable {
    let base: any Hashable & Sendable
    init(_ base: any Hashable & Sendable) { self.base = base }
  }

  private let box: Box

  /// Wraps a value.
  public init(_ base: some Hashable & Sendable) { box = Box(base) }

  /// The value.
  public var base: any Hashable & Sendable { box.base }

  /// Compares two values of the same type. Values of different types are different.
  public static func == (left: CustomValue, right: CustomValue) -> Bool {
    func isEqual<T: Hashable>(_ one: T) -> Bool {
      type(of: right.base) == T.self && right.base as? T == one
    }
    return isEqual(left.base)
  }

  /// Adds the value to a hash.
  public func hash(into hasher: inout Hasher) { box.base.hash(into: &hasher) }
}

extension Value {
  /// Makes a value of a type of your own.
  public init(custom value: some Hashable & Sendable) { self = .custom(CustomValue(value)) }

  /// Returns the value as your own type, or nil for another kind or type.
  public func customValue<T>(as type: T.Type = T.self) -> T? {
    if case .custom(let value) = self { return value.base as? T }
    return nil
  }
}

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
