// SPDX-License-Identifier: MIT OR Apache-2.0

/// Makes a ``Value`` of any `Encodable` type.
///
/// A type with keys becomes a map with text keys. A list of `UInt8`, `Int32`, `Int64`, `Float` or
/// `Double` that is the whole of a property becomes a list of numbers, without a value for each.
public struct ValueEncoder: Sendable {
  /// Makes an encoder.
  public init() {}

  /// Returns the value. Throws `EncodingError`, or the error of the type's own code.
  public func encode(_ value: some Encodable) throws -> Value {
    try boxed(value, path: [])
  }
}

/// Returns the value of an encodable one. The lists of numbers need no encoder.
private func boxed<T: Encodable>(_ value: T, path: [any CodingKey]) throws -> Value {
  switch value {
  case let value as Value: return value
  case let text as String: return .string(text)
  case let list as [UInt8]: return .bytes(list)
  case let list as [Int32]: return .int32s(list)
  case let list as [Int64]: return .int64s(list)
  case let list as [Float]: return .floats(list)
  case let list as [Double]: return .doubles(list)
  default: break
  }
  if path.count >= CodecLimits.deepest {
    throw EncodingError.invalidValue(
      value,
      EncodingError.Context(codingPath: path, debugDescription: "nested too deep, or in a circle"))
  }
  let encoder = Encoding(codingPath: path)
  try value.encode(to: encoder)
  return encoder.result
}

/// Collects what a type encodes: one value, a list or a map.
private final class Encoding: Encoder {
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }
  private var single: Value?
  private var list: [Part]?
  private var map: [(String, Part)]?

  /// A part that is ready, or that another container still fills.
  enum Part {
    case value(Value)
    case later(Encoding)

    var result: Value {
      switch self {
      case .value(let value): value
      case .later(let encoding): encoding.result
      }
    }
  }

  init(codingPath: [any CodingKey]) { self.codingPath = codingPath }

  var result: Value {
    if let map {
      var made = ValueMap(capacity: map.count)
      for (key, part) in map { made.put(.string(key), part.result) }
      return .map(made)
    }
    if let list { return .list(list.map(\.result)) }
    // Swift's own encoders write a type that encodes nothing as an empty map.
    return single ?? .map(ValueMap())
  }

  func put(_ value: Value) { single = value }
  func append(_ part: Part) { list?.append(part) }
  func append(_ key: String, _ part: Part) { map?.append((key, part)) }
  var count: Int { list?.count ?? 0 }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    map = map ?? []
    return KeyedEncodingContainer(Keyed<Key>(encoding: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    list = list ?? []
    return Unkeyed(encoding: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { Single(encoding: self) }

  /// Returns an unsigned integer as a value of any size.
  static func unsigned(_ value: UInt64) -> Value {
    if let narrow = Int64(exactly: value) { return .int(narrow) }
    return BigInteger(hex: String(value, radix: 16)).map { .big($0) } ?? .null
  }
}

private struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let encoding: Encoding
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
  func encode(_ value: UInt, forKey key: Key) { put(Encoding.unsigned(UInt64(value)), key) }
  func encode(_ value: UInt8, forKey key: Key) { put(.int(Int64(value)), key) }
  func encode(_ value: UInt16, forKey key: Key) { put(.int(Int64(value)), key) }
  func encode(_ value: UInt32, forKey key: Key) { put(.int(Int64(value)), key) }
  func encode(_ value: UInt64, forKey key: Key) { put(Encoding.unsigned(value), key) }

  func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
    put(try boxed(value, path: codingPath + [key]), key)
  }

  private func inner(_ key: String, _ path: any CodingKey) -> Encoding {
    let inner = Encoding(codingPath: codingPath + [path])
    encoding.append(key, .later(inner))
    return inner
  }

  func nestedContainer<Inner: CodingKey>(keyedBy type: Inner.Type, forKey key: Key)
    -> KeyedEncodingContainer<Inner>
  {
    inner(key.stringValue, key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    inner(key.stringValue, key).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { inner("super", PathKey(stringValue: "super")) }
  func superEncoder(forKey key: Key) -> any Encoder { inner(key.stringValue, key) }
}

private struct Unkeyed: UnkeyedEncodingContainer {
  let encoding: Encoding
  var codingPath: [any CodingKey] { encoding.codingPath }
  var count: Int { encoding.count }

  func encodeNil() { encoding.append(.value(.null)) }

  func encode<T: Encodable>(_ value: T) throws {
    encoding.append(.value(try boxed(value, path: codingPath + [PathKey(intValue: count)])))
  }

  private func inner() -> Encoding {
    let inner = Encoding(codingPath: codingPath + [PathKey(intValue: count)])
    encoding.append(.later(inner))
    return inner
  }

  func nestedContainer<Inner: CodingKey>(keyedBy type: Inner.Type) -> KeyedEncodingContainer<Inner>
  {
    inner().container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { inner().unkeyedContainer() }
  func superEncoder() -> any Encoder { inner() }
}

private struct Single: SingleValueEncodingContainer {
  let encoding: Encoding
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
  func encode(_ value: UInt) { encoding.put(Encoding.unsigned(UInt64(value))) }
  func encode(_ value: UInt8) { encoding.put(.int(Int64(value))) }
  func encode(_ value: UInt16) { encoding.put(.int(Int64(value))) }
  func encode(_ value: UInt32) { encoding.put(.int(Int64(value))) }
  func encode(_ value: UInt64) { encoding.put(Encoding.unsigned(value)) }
  func encode<T: Encodable>(_ value: T) throws {
    encoding.put(try boxed(value, path: codingPath))
  }
}

/// A place in a list, or a key that no type has named.
struct PathKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(stringValue: String) {
    self.stringValue = stringValue
    intValue = nil
  }

  init(intValue: Int) {
    stringValue = "\(intValue)"
    self.intValue = intValue
  }
}
