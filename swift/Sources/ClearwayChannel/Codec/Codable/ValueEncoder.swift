// SPDX-License-Identifier: MIT OR Apache-2.0

/// Makes a ``Value`` of any `Encodable` type.
///
/// A type with keys becomes a map with text keys. A list of `UInt8`, `Int32`, `Int64`, `Float` or
/// `Double` that is the whole of a property becomes a list of numbers, without a value for each. So
/// do types that encode their bytes as a whole, such as Foundation's `Data`.
public struct ValueEncoder: Sendable {
  /// Makes an encoder.
  public init() {}

  /// Returns the value. Throws `EncodingError`, or the error of the type's own code.
  public func encode(_ value: some Encodable) throws -> Value {
    try boxed(value, nil, nesting: 0, path: [])
  }
}

/// Returns the value of an encodable one. The path is read only for types that need an encoder.
///
/// `nesting` counts the types around the value. A type may encode itself as a single value without end, which
/// has no longer path.
func boxed<T: Encodable>(
  _ value: T, _ extensions: Extensions?, nesting: Int, path: @autoclosure () -> [any CodingKey]
) throws -> Value {
  if let plain = plainValue(value) { return plain }
  if let own = extensions?.of(T.self)?.wrap(value) { return .custom(own) }
  let path = path()
  if nesting >= CodecLimits.deepest { throw tooDeep(value, path) }
  let encoder = CollectingEncoder(codingPath: path, extensions, nesting: nesting + 1)
  try value.encode(to: encoder)
  return encoder.result
}

/// Returns the value of a text, a number or a list of numbers. Returns nil for other types.
///
/// Comparing types costs less than casts, which search for conformances.
private func plainValue<T>(_ value: T) -> Value? {
  if T.self == String.self { return .string(cast(value)) }
  if T.self == Int.self { return .int(Int64(cast(value) as Int)) }
  if T.self == Double.self { return .double(cast(value)) }
  if T.self == Bool.self { return .bool(cast(value)) }
  if T.self == Value.self { return cast(value) as Value }
  if T.self == [UInt8].self { return .bytes(cast(value)) }
  if T.self == [Int32].self { return .int32s(cast(value)) }
  if T.self == [Int64].self { return .int64s(cast(value)) }
  if T.self == [Float].self { return .floats(cast(value)) }
  if T.self == [Double].self { return .doubles(cast(value)) }
  return nil
}

/// Returns a value whose type the caller has compared.
@inline(__always)
func cast<T, U>(_ value: T) -> U { unsafeBitCast(value, to: U.self) }

func tooDeep(_ value: Any, _ path: [any CodingKey]) -> EncodingError {
  .invalidValue(value, .init(codingPath: path, debugDescription: "nested too deep, or in a circle"))
}

/// Returns an unsigned integer as a value of any size.
func unsigned(_ value: UInt64) -> Value {
  if let narrow = Int64(exactly: value) { return .int(narrow) }
  return BigInteger(hex: String(value, radix: 16)).map { .big($0) } ?? .null
}

/// Collects what a type encodes: one value, a list or a map.
final class CollectingEncoder: Encoder {
  let codingPath: [any CodingKey]
  /// The types that become custom values.
  let extensions: Extensions?
  /// The types that encode themselves so far, and the containers between them.
  let nesting: Int
  var userInfo: [CodingUserInfoKey: Any] { [:] }
  private var single: Value?
  private var list: [Part]?
  /// The list as bytes, while nothing else was added to it.
  private var bytes: [UInt8]?
  private var map: [(String, Part)]?

  /// A part that is ready, or that another container still fills.
  enum Part {
    case value(Value)
    case later(CollectingEncoder)

    var result: Value {
      switch self {
      case .value(let value): value
      case .later(let encoding): encoding.result
      }
    }
  }

  init(codingPath: [any CodingKey], _ extensions: Extensions?, nesting: Int) {
    self.codingPath = codingPath
    self.extensions = extensions
    self.nesting = nesting
  }

  var result: Value {
    if let map {
      var made = ValueMap(capacity: map.count)
      for (key, part) in map { made.put(.string(key), part.result) }
      return .map(made)
    }
    if let bytes { return .bytes(bytes) }
    if let list { return .list(list.map(\.result)) }
    // Swift's own encoders write a type that encodes nothing as an empty map.
    return single ?? .map(ValueMap())
  }

  func put(_ value: Value) { single = value }
  func append(_ key: String, _ part: Part) { map?.append((key, part)) }
  var count: Int { bytes?.count ?? list?.count ?? 0 }

  func append(_ part: Part) {
    if let bytes {
      self.bytes = nil
      list = bytes.map { .value(.int(Int64($0))) }
    }
    list?.append(part)
  }

  /// Adds bytes. A list that has nothing else is a list of bytes.
  func append(bytes added: [UInt8]) {
    if count == 0 {
      bytes = added
    } else {
      for byte in added { append(.value(.int(Int64(byte)))) }
    }
  }

  /// Begins a list or a map, whose first parts are these values.
  func begin(list values: [Value]) { list = values.map { .value($0) } }
  func begin(map values: [Value]) {
    map = stride(from: 0, to: values.count - 1, by: 2).map { at in
      (values[at].stringValue ?? "", Part.value(values[at + 1]))
    }
  }

  /// Adds a part that its containers fill later, to the map or to the list.
  func inner(_ key: String, _ path: any CodingKey) -> CollectingEncoder {
    let inner = CollectingEncoder(
      codingPath: codingPath + [path], extensions, nesting: nesting + 1)
    append(key, .later(inner))
    return inner
  }

  func inner() -> CollectingEncoder {
    let inner = CollectingEncoder(
      codingPath: codingPath + [PathKey.index(count)], extensions, nesting: nesting + 1)
    append(.later(inner))
    return inner
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    map = map ?? []
    return KeyedEncodingContainer(Keyed<Key>(encoding: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    list = list ?? []
    return Unkeyed(encoding: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { Single(encoding: self) }

  /// Returns the value of a part.
  func boxed<T: Encodable>(_ value: T, path: @autoclosure () -> [any CodingKey]) throws -> Value {
    try ClearwayChannel.boxed(value, extensions, nesting: nesting, path: path())
  }
}

private struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let encoding: CollectingEncoder
  var codingPath: [any CodingKey] { encoding.codingPath }

  private func put(_ value: Value, _ key: Key) { encoding.append(key.stringValue, .value(value)) }

  func encodeNil(forKey key: Key) { put(.null, key) }
  func encode(_ value: Bool, forKey key: Key) { put(.bool(value), key) }
  func encode(_ value: String, forKey key: Key) { put(.string(value), key) }
  func encode(_ value: Double, forKey key: Key) { put(.double(value), key) }
  func encode(_ value: Float, forKey key: Key) { put(.double(Double(value)), key) }
  func encode(_ value: Int, forKey key: Key) { put(.int(Int64(value)), key) }
  func encode(_ value: Int8, forKey key: Key) { put(.int(Int64(value)), key) }
  func encode(_ value: Int16, forKey key: Key) { put(.int(Int64(value)), key) }
  func encode(_ value: Int32, forKey key: Key) { put(.int(Int64(value)), key) }
  func encode(_ value: Int64, forKey key: Key) { put(.int(value), key) }
  func encode(_ value: UInt, forKey key: Key) { put(unsigned(UInt64(value)), key) }
  func encode(_ value: UInt8, forKey key: Key) { put(.int(Int64(value)), key) }
  func encode(_ value: UInt16, forKey key: Key) { put(.int(Int64(value)), key) }
  func encode(_ value: UInt32, forKey key: Key) { put(.int(Int64(value)), key) }
  func encode(_ value: UInt64, forKey key: Key) { put(unsigned(value), key) }

  func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
    put(try encoding.boxed(value, path: codingPath + [key]), key)
  }

  private func inner(_ key: String, _ path: any CodingKey) -> CollectingEncoder {
    encoding.inner(key, path)
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

private struct Unkeyed: UnkeyedEncodingContainer {
  let encoding: CollectingEncoder
  var codingPath: [any CodingKey] { encoding.codingPath }
  var count: Int { encoding.count }

  func encodeNil() { encoding.append(.value(.null)) }

  func encode<T: Encodable>(_ value: T) throws {
    encoding.append(
      .value(try encoding.boxed(value, path: codingPath + [PathKey.index(count)])))
  }

  func encode<T: Sequence>(contentsOf sequence: T) throws where T.Element == UInt8 {
    encoding.append(bytes: Array(sequence))
  }

  private func inner() -> CollectingEncoder { encoding.inner() }

  func nestedContainer<Inner: CodingKey>(keyedBy type: Inner.Type) -> KeyedEncodingContainer<Inner>
  {
    inner().container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { inner().unkeyedContainer() }
  func superEncoder() -> any Encoder { inner() }
}

private struct Single: SingleValueEncodingContainer {
  let encoding: CollectingEncoder
  var codingPath: [any CodingKey] { encoding.codingPath }

  func encodeNil() { encoding.put(.null) }
  func encode(_ value: Bool) { encoding.put(.bool(value)) }
  func encode(_ value: String) { encoding.put(.string(value)) }
  func encode(_ value: Double) { encoding.put(.double(value)) }
  func encode(_ value: Float) { encoding.put(.double(Double(value))) }
  func encode(_ value: Int) { encoding.put(.int(Int64(value))) }
  func encode(_ value: Int8) { encoding.put(.int(Int64(value))) }
  func encode(_ value: Int16) { encoding.put(.int(Int64(value))) }
  func encode(_ value: Int32) { encoding.put(.int(Int64(value))) }
  func encode(_ value: Int64) { encoding.put(.int(value)) }
  func encode(_ value: UInt) { encoding.put(unsigned(UInt64(value))) }
  func encode(_ value: UInt8) { encoding.put(.int(Int64(value))) }
  func encode(_ value: UInt16) { encoding.put(.int(Int64(value))) }
  func encode(_ value: UInt32) { encoding.put(.int(Int64(value))) }
  func encode(_ value: UInt64) { encoding.put(unsigned(value)) }
  func encode<T: Encodable>(_ value: T) throws {
    encoding.put(try encoding.boxed(value, path: codingPath))
  }
}

/// A place in a list, or a key that no type has named.
enum PathKey: CodingKey {
  case name(String)
  case index(Int)

  init(stringValue: String) { self = .name(stringValue) }
  init(intValue: Int) { self = .index(intValue) }

  var stringValue: String {
    switch self {
    case .name(let name): name
    case .index(let index): "\(index)"
    }
  }

  var intValue: Int? {
    if case .index(let index) = self { return index }
    return nil
  }
}
