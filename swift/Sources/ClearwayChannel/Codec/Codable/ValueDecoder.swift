// SPDX-License-Identifier: MIT OR Apache-2.0

/// Makes any `Decodable` type of a ``Value``.
///
/// A number fits if it is exact: 1.0 is read as an `Int`, and 300 not as a `UInt8`. Only a fraction that is
/// read as a `Float` may be rounded. A float beyond 2^53 is read as no integer: the other end, or a codec
/// of JSON, may have rounded an integer to it.
public struct ValueDecoder: Sendable {
  /// Makes a decoder.
  public init() {}

  /// Returns an instance. Throws `DecodingError`, or the error of the type's own code.
  public func decode<T: Decodable>(_ type: T.Type, from value: Value) throws -> T {
    try unboxed(type, value, path: [])
  }
}

/// Makes an instance of a value. The path is read only for types that need a decoder.
///
/// `singles` counts the types around it that decode themselves as a single value, which is this one.
func unboxed<T: Decodable>(
  _ type: T.Type, _ value: Value, singles: Int = 0, path: @autoclosure () -> [any CodingKey]
) throws -> T {
  switch value {
  case .string(let text): if T.self == String.self { return cast(text) }
  case .int(let number):
    if T.self == Int.self, let exact = Int(exactly: number) { return cast(exact) }
  case .double(let number): if T.self == Double.self { return cast(number) }
  case .bool(let flag): if T.self == Bool.self { return cast(flag) }
  // The lists of numbers need no decoder.
  case .bytes(let list): if T.self == [UInt8].self { return cast(list) }
  case .int32s(let list): if T.self == [Int32].self { return cast(list) }
  case .int64s(let list): if T.self == [Int64].self { return cast(list) }
  case .floats(let list): if T.self == [Float].self { return cast(list) }
  case .doubles(let list): if T.self == [Double].self { return cast(list) }
  case .custom(let own): if let own = own.base as? T { return own }
  default: break
  }
  if T.self == Value.self { return cast(value) }
  let path = path()
  try checkSingles(singles, path)
  return try T(from: Decoding(value: value, codingPath: path, singles: singles))
}

/// Throws if a type seems to decode itself as a single value without end.
func checkSingles(_ singles: Int, _ path: @autoclosure () -> [any CodingKey]) throws {
  if singles < CodecLimits.deepest { return }
  throw DecodingError.dataCorrupted(
    .init(codingPath: path(), debugDescription: "nested too deep, or in a circle"))
}

func mismatch(_ type: Any.Type, _ path: [any CodingKey]) -> DecodingError {
  .typeMismatch(type, .init(codingPath: path, debugDescription: "the value is no \(type)"))
}

func number<N: BinaryInteger>(_ type: N.Type, _ value: Value, _ path: [any CodingKey])
  throws
  -> N
{
  let exact: N? =
    switch value {
    case .int(let number): N(exactly: number)
    case .double(let number): exactInteger(number)
    case .big(let number) where !number.isNegative:
      UInt64(number.hexDigits, radix: 16).flatMap { N(exactly: $0) }
    default: nil
    }
  guard let exact else { throw mismatch(type, path) }
  return exact
}

/// Returns the integer that a float is, or nil if it is none. A float beyond 2^53 stands for several
/// integers.
@inline(__always)
func exactInteger<N: BinaryInteger>(_ number: Double) -> N? {
  abs(number) <= Double(exactMax) ? N(exactly: number) : nil
}

/// Returns a float of 32 bits. A fraction may be rounded. An integer up to 2^53 that would be rounded, and
/// a number beyond the range, do not fit.
func narrow(_ wide: Double, _ path: @autoclosure () -> [any CodingKey]) throws -> Float {
  let narrow = Float(wide)
  let isExact = Double(narrow) == wide
  let mayRound = narrow.isFinite == wide.isFinite && (narrow == 0) == (wide == 0)
  if isExact || mayRound && (exactInteger(wide) as Int64?) == nil { return narrow }
  throw mismatch(Float.self, path())
}

/// Throws for a map with a key that is no text, if its reader takes the entries of all keys. Such an entry
/// would be lost.
func checkKeys<Key: CodingKey>(
  _ type: Key.Type, _ path: @autoclosure () -> [any CodingKey], areTexts: () -> Bool
) throws {
  if Key(stringValue: "") == nil || areTexts() { return }
  throw DecodingError.dataCorrupted(
    .init(codingPath: path(), debugDescription: "it has a key that is no text"))
}

struct Decoding: Decoder {
  let value: Value
  let codingPath: [any CodingKey]
  var singles = 0
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard case .map(let map) = value else { throw mismatch([String: Value].self, codingPath) }
    try checkKeys(type, codingPath) { map.allSatisfy { $0.key.stringValue != nil } }
    return KeyedDecodingContainer(KeyedReader<Key>(map: map, codingPath: codingPath))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let list: [Value] =
      switch value {
      case .list(let list): list
      case .bytes(let list): list.map { .int(Int64($0)) }
      case .int32s(let list): list.map { .int(Int64($0)) }
      case .int64s(let list): list.map { .int($0) }
      case .floats(let list): list.map { .double(Double($0)) }
      case .doubles(let list): list.map { .double($0) }
      default: throw mismatch([Value].self, codingPath)
      }
    return UnkeyedReader(list: list, codingPath: codingPath)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer {
    SingleReader(value: value, codingPath: codingPath, singles: singles)
  }
}

private struct SingleReader: SingleValueDecodingContainer {
  let value: Value
  let codingPath: [any CodingKey]
  let singles: Int

  func decodeNil() -> Bool { value.isNull }

  func decode(_ type: Bool.Type) throws -> Bool {
    guard case .bool(let flag) = value else { throw mismatch(type, codingPath) }
    return flag
  }

  func decode(_ type: String.Type) throws -> String {
    guard case .string(let text) = value else { throw mismatch(type, codingPath) }
    return text
  }

  func decode(_ type: Double.Type) throws -> Double {
    switch value {
    case .double(let number): return number
    case .int(let number): if let exact = Double(exactly: number) { return exact }
    default: break
    }
    throw mismatch(type, codingPath)
  }

  func decode(_ type: Float.Type) throws -> Float {
    try narrow(try decode(Double.self), codingPath)
  }
  func decode(_ type: Int.Type) throws -> Int { try number(type, value, codingPath) }
  func decode(_ type: Int8.Type) throws -> Int8 { try number(type, value, codingPath) }
  func decode(_ type: Int16.Type) throws -> Int16 { try number(type, value, codingPath) }
  func decode(_ type: Int32.Type) throws -> Int32 { try number(type, value, codingPath) }
  func decode(_ type: Int64.Type) throws -> Int64 { try number(type, value, codingPath) }
  func decode(_ type: UInt.Type) throws -> UInt { try number(type, value, codingPath) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try number(type, value, codingPath) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try number(type, value, codingPath) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try number(type, value, codingPath) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try number(type, value, codingPath) }

  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    try unboxed(type, value, singles: singles + 1, path: codingPath)
  }
}

private struct KeyedReader<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let map: ValueMap
  let codingPath: [any CodingKey]

  var allKeys: [Key] { map.compactMap { $0.key.stringValue.flatMap(Key.init(stringValue:)) } }

  func contains(_ key: Key) -> Bool { map[key.stringValue] != nil }

  private func value(_ key: Key) throws -> Value {
    guard let value = map[key.stringValue] else {
      throw DecodingError.keyNotFound(
        key, .init(codingPath: codingPath, debugDescription: "no key \(key.stringValue)"))
    }
    return value
  }

  func decodeNil(forKey key: Key) throws -> Bool { try value(key).isNull }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try unboxed(type, try value(key), path: codingPath + [key])
  }

  func nestedContainer<Inner: CodingKey>(keyedBy type: Inner.Type, forKey key: Key) throws
    -> KeyedDecodingContainer<Inner>
  {
    try Decoding(value: try value(key), codingPath: codingPath + [key]).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try Decoding(value: try value(key), codingPath: codingPath + [key]).unkeyedContainer()
  }

  func superDecoder() -> any Decoder {
    let key = PathKey.name("super")
    return Decoding(value: map["super"] ?? .null, codingPath: codingPath + [key])
  }

  func superDecoder(forKey key: Key) throws -> any Decoder {
    Decoding(value: try value(key), codingPath: codingPath + [key])
  }
}

private struct UnkeyedReader: UnkeyedDecodingContainer {
  let list: [Value]
  let codingPath: [any CodingKey]
  var currentIndex = 0

  init(list: [Value], codingPath: [any CodingKey]) {
    self.list = list
    self.codingPath = codingPath
  }

  var count: Int? { list.count }
  var isAtEnd: Bool { currentIndex >= list.count }
  private var path: [any CodingKey] { codingPath + [PathKey.index(currentIndex)] }

  private func current() throws -> Value {
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        Value.self, .init(codingPath: path, debugDescription: "the list has ended"))
    }
    return list[currentIndex]
  }

  mutating func decodeNil() throws -> Bool {
    let isNull = try current().isNull
    if isNull { currentIndex += 1 }
    return isNull
  }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    let value = try unboxed(type, try current(), path: path)
    currentIndex += 1
    return value
  }

  mutating func nestedContainer<Inner: CodingKey>(keyedBy type: Inner.Type) throws
    -> KeyedDecodingContainer<Inner>
  {
    let inner = try Decoding(value: try current(), codingPath: path).container(keyedBy: type)
    currentIndex += 1
    return inner
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let inner = try Decoding(value: try current(), codingPath: path).unkeyedContainer()
    currentIndex += 1
    return inner
  }

  mutating func superDecoder() throws -> any Decoder {
    let inner = Decoding(value: try current(), codingPath: path)
    currentIndex += 1
    return inner
  }
}
