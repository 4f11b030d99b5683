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
  private var nesting = 0
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
