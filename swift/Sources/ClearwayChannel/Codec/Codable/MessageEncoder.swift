// SPDX-License-Identifier: MIT OR Apache-2.0

/// Encodes a type as a message of the standard codec, without a ``Value`` in between.
func encodeMessage(_ value: some Encodable, _ rules: StandardRules, bytesMax: Int = .max) throws
  -> [UInt8]
{
  let encoder = MessageEncoder(rules, bytesMax: bytesMax)
  try encoder.write(value)
  return encoder.writer.finish()
}

/// Writes one message. The containers of its scopes write into it as the types ask them to.
///
/// An access to a class's property has a run-time check, which took a tenth of the time of encoding.
/// An encoder is no `Sendable`, and no access to the writer lasts while a type's code runs.
final class MessageEncoder {
  @exclusivity(unchecked) var writer: ByteWriter
  let rules: StandardRules
  /// The scope whose containers may write: the innermost one.
  @exclusivity(unchecked) private(set) var current: EncodingScope?
  /// The types that encode themselves now.
  private(set) var nesting = 0
  /// The last type that turned out to have no count.
  private var uncounted: ObjectIdentifier?

  init(_ rules: StandardRules, bytesMax: Int) {
    self.rules = rules
    writer = ByteWriter(bytesMax: bytesMax)
  }

  /// Writes a value that is in no other one.
  func write<T: Encodable>(_ value: T) throws {
    if try writePlain(value, depth: 0) { return }
    try write(value, from: nil, key: nil, index: -1, depth: 0)
  }

  /// Writes a text, a number, a list of them or a type with an extension. Returns false for a type that needs an encoder.
  func writePlain<T>(_ value: T, depth: Int) throws(ClearwayError) -> Bool {
    if T.self == String.self {
      try writer.taggedText(cast(value))
    } else if T.self == Int.self {
      try writer.integer(Int64(cast(value) as Int))
    } else if T.self == Double.self {
      try writer.float64(cast(value))
    } else if T.self == Bool.self {
      try writer.byte((cast(value) as Bool) ? Tag.yes : Tag.no)
    } else if T.self == [UInt8].self {
      try writer.numbers(Tag.bytes, cast(value) as [UInt8])
    } else if T.self == [Double].self {
      try writer.numbers(Tag.float64s, cast(value) as [Double])
    } else if T.self == [Int].self {
      let list: [Int] = cast(value)
      try begin(Tag.list, list.count, depth)
      for each in list { try writer.integer(Int64(each)) }
    } else if T.self == [String].self {
      let list: [String] = cast(value)
      try begin(Tag.list, list.count, depth)
      for each in list { try writer.taggedText(each) }
    } else if T.self == [Int32].self {
      try writer.numbers(Tag.int32s, cast(value) as [Int32])
    } else if T.self == [Int64].self {
      try writer.numbers(Tag.int64s, cast(value) as [Int64])
    } else if T.self == [Float].self {
      try writer.numbers(Tag.float32s, cast(value) as [Float])
    } else if T.self == Int64.self {
      try writer.integer(cast(value))
    } else if T.self == Int32.self {
      try writer.integer(Int64(cast(value) as Int32))
    } else if T.self == Float.self {
      try writer.float64(Double(cast(value) as Float))
    } else if T.self == Value.self {
      try writer.value(cast(value), depth, rules)
    } else if let own = rules.extensions?.of(T.self) {
      try writer.custom(value, own, depth, rules)
    } else {
      return false
    }
    return true
  }

  private func begin(_ tag: UInt8, _ count: Int, _ depth: Int) throws(ClearwayError) {
    try writer.enter(depth, rules.limits.depthMax)
    try writer.byte(tag)
    try writer.size(count)
  }

  /// Lets a type encode itself in a scope of its own.
  func write<T: Encodable>(
    _ value: T, from parent: EncodingScope?, key: (any CodingKey)?, index: Int, depth: Int
  ) throws {
    let scope = EncodingScope(
      self, parent: parent, key: key, index: index, depth: depth, expecting: expected(value))
    // A type may encode itself as a single value without end, which is no deeper message.
    if nesting >= CodecLimits.deepest { throw tooDeep(value, scope.codingPath) }
    current = scope
    nesting += 1
    defer {
      current = parent
      nesting -= 1
    }
    try value.encode(to: scope)
    try scope.finish()
  }

  /// Returns the number of values that a type will probably encode.
  private func expected<T>(_ value: T) -> Int {
    if uncounted == ObjectIdentifier(T.self) { return 0 }
    if let counted = value as? any Counted { return counted.count }
    uncounted = ObjectIdentifier(T.self)
    return 0
  }
}

/// A collection whose count is written before its elements.
private protocol Counted {
  var count: Int { get }
}

extension Array: Counted {}
extension ArraySlice: Counted {}
extension ContiguousArray: Counted {}
extension Set: Counted {}
extension Dictionary: Counted {}

/// The container of a map's entries, which it writes into the message.
struct KeyedScope<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let scope: EncodingScope
  var codingPath: [any CodingKey] { scope.codingPath }

  func encodeNil(forKey key: Key) throws {
    try scope.entry(key.stringValue) {
      .null
    } write: {
      try scope.message.writer.byte(Tag.null)
    }
  }

  func encode(_ value: Bool, forKey key: Key) throws {
    try scope.entry(key.stringValue) {
      .bool(value)
    } write: {
      try scope.message.writer.byte(value ? Tag.yes : Tag.no)
    }
  }

  func encode(_ value: String, forKey key: Key) throws {
    try scope.entry(key.stringValue) {
      .string(value)
    } write: {
      try scope.message.writer.taggedText(value)
    }
  }

  func encode(_ value: Double, forKey key: Key) throws {
    try scope.entry(key.stringValue) {
      .double(value)
    } write: {
      try scope.message.writer.float64(value)
    }
  }

  private func integer(_ value: Int64, _ key: Key) throws {
    try scope.entry(key.stringValue) {
      .int(value)
    } write: {
      try scope.message.writer.integer(value)
    }
  }

  func encode(_ value: Float, forKey key: Key) throws { try encode(Double(value), forKey: key) }
  func encode(_ value: Int, forKey key: Key) throws { try integer(Int64(value), key) }
  func encode(_ value: Int8, forKey key: Key) throws { try integer(Int64(value), key) }
  func encode(_ value: Int16, forKey key: Key) throws { try integer(Int64(value), key) }
  func encode(_ value: Int32, forKey key: Key) throws { try integer(Int64(value), key) }
  func encode(_ value: Int64, forKey key: Key) throws { try integer(value, key) }
  func encode(_ value: UInt, forKey key: Key) throws { try encode(UInt64(value), forKey: key) }
  func encode(_ value: UInt8, forKey key: Key) throws { try integer(Int64(value), key) }
  func encode(_ value: UInt16, forKey key: Key) throws { try integer(Int64(value), key) }
  func encode(_ value: UInt32, forKey key: Key) throws { try integer(Int64(value), key) }

  func encode(_ value: UInt64, forKey key: Key) throws {
    if let narrow = Int64(exactly: value) { return try integer(narrow, key) }
    try encode(unsigned(value), forKey: key)
  }

  func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
    try scope.entry(key.stringValue) {
      try scope.boxed(value, path: codingPath + [key])
    } write: {
      try scope.write(value, key)
    }
  }

  // MARK: Parts that are filled later

  private func inner(_ key: String, _ path: any CodingKey) -> CollectingEncoder {
    scope.collecting().inner(key, path)
  }

  func nestedContainer<Inner: CodingKey>(keyedBy type: Inner.Type, forKey key: Key)
    -> KeyedEncodingContainer<Inner>
  {
    inner(key.stringValue, key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    inner(key.stringValue, key).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { inner("super", PathKey.name("super")) }
  func superEncoder(forKey key: Key) -> any Encoder { inner(key.stringValue, key) }
}

/// The container of a list's elements, which it writes into the message.
struct UnkeyedScope: UnkeyedEncodingContainer {
  let scope: EncodingScope
  var codingPath: [any CodingKey] { scope.codingPath }
  var count: Int { scope.size }

  func encodeNil() throws {
    try scope.element {
      .null
    } write: {
      try scope.message.writer.byte(Tag.null)
    }
  }

  func encode<T: Encodable>(_ value: T) throws {
    try scope.element {
      try scope.boxed(value, path: codingPath + [PathKey.index(count)])
    } write: {
      try scope.write(value, nil, index: scope.size)
    }
  }

  func encode<T: Sequence>(contentsOf sequence: T) throws where T.Element == UInt8 {
    try scope.elements(Array(sequence))
  }

  private func inner() -> CollectingEncoder { scope.collecting().inner() }

  func nestedContainer<Inner: CodingKey>(keyedBy type: Inner.Type) -> KeyedEncodingContainer<Inner>
  {
    inner().container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { inner().unkeyedContainer() }
  func superEncoder() -> any Encoder { inner() }
}

/// The container of a single value, which it writes into the message.
struct SingleScope: SingleValueEncodingContainer {
  let scope: EncodingScope
  var codingPath: [any CodingKey] { scope.codingPath }

  private func integer(_ value: Int64) throws {
    try scope.single { try scope.message.writer.integer(value) }
  }

  func encodeNil() throws { try scope.single { try scope.message.writer.byte(Tag.null) } }
  func encode(_ value: Bool) throws {
    try scope.single { try scope.message.writer.byte(value ? Tag.yes : Tag.no) }
  }
  func encode(_ value: String) throws {
    try scope.single { try scope.message.writer.taggedText(value) }
  }
  func encode(_ value: Double) throws {
    try scope.single { try scope.message.writer.float64(value) }
  }
  func encode(_ value: Float) throws { try encode(Double(value)) }
  func encode(_ value: Int) throws { try integer(Int64(value)) }
  func encode(_ value: Int8) throws { try integer(Int64(value)) }
  func encode(_ value: Int16) throws { try integer(Int64(value)) }
  func encode(_ value: Int32) throws { try integer(Int64(value)) }
  func encode(_ value: Int64) throws { try integer(value) }
  func encode(_ value: UInt) throws { try encode(UInt64(value)) }
  func encode(_ value: UInt8) throws { try integer(Int64(value)) }
  func encode(_ value: UInt16) throws { try integer(Int64(value)) }
  func encode(_ value: UInt32) throws { try integer(Int64(value)) }

  func encode(_ value: UInt64) throws {
    if let narrow = Int64(exactly: value) { return try integer(narrow) }
    try encode(unsigned(value))
  }

  func encode<T: Encodable>(_ value: T) throws { try scope.single { try scope.write(value, nil) } }
}
