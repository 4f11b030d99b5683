// SPDX-License-Identifier: MIT OR Apache-2.0

extension DecodingLevel: SingleValueDecodingContainer {
  func decodeNil() -> Bool { message.isNull(node) }

  func decode(_ type: Bool.Type) throws -> Bool { try exactly(type, message.bool(node)) }
  func decode(_ type: String.Type) throws -> String { try exactly(type, message.text(node)) }
  func decode(_ type: Double.Type) throws -> Double { try exactly(type, message.double(node)) }
  func decode(_ type: Float.Type) throws -> Float {
    try narrow(try decode(Double.self), codingPath)
  }
  func decode(_ type: Int.Type) throws -> Int { try whole() }
  func decode(_ type: Int8.Type) throws -> Int8 { try whole() }
  func decode(_ type: Int16.Type) throws -> Int16 { try whole() }
  func decode(_ type: Int32.Type) throws -> Int32 { try whole() }
  func decode(_ type: Int64.Type) throws -> Int64 { try whole() }
  func decode(_ type: UInt.Type) throws -> UInt { try whole() }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try whole() }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try whole() }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try whole() }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try whole() }
  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    try checkSingles(singles, codingPath)
    return try decode(type, node, nil)
  }

  @inline(__always)
  private func exactly<T>(_ type: T.Type, _ value: T?) throws -> T {
    guard let value else { throw mismatch(type, codingPath) }
    return value
  }

  @inline(__always)
  func whole<N: FixedWidthInteger>() throws -> N {
    if let value: N = message.integer(node) { return value }
    // An integer beyond 64 bits with a sign, or no integer at all.
    return try number(N.self, try message.value(node), codingPath)
  }
}

/// The container of a map's entries.
struct KeyedLevel<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let level: DecodingLevel
  var codingPath: [any CodingKey] { level.codingPath }
  var allKeys: [Key] { level.keys.compactMap(Key.init(stringValue:)) }

  func contains(_ key: Key) -> Bool { level.find(key.stringValue) != nil }

  private func value(_ key: Key) throws -> Int {
    guard let value = level.find(key.stringValue) else {
      throw DecodingError.keyNotFound(
        key, .init(codingPath: codingPath, debugDescription: "no key \(key.stringValue)"))
    }
    return value
  }

  func decodeNil(forKey key: Key) throws -> Bool { level.message.isNull(try value(key)) }

  // The types with a method of their own need no comparison, and no metadata of generic types.
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    try exactly(key) { level.message.bool($0) }
  }
  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    try exactly(key) { level.message.text($0) }
  }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    try exactly(key) { level.message.double($0) }
  }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
    try narrow(try decode(Double.self, forKey: key), codingPath + [key])
  }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try whole(key) }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try whole(key) }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try whole(key) }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try whole(key) }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try whole(key) }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try whole(key) }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try whole(key) }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try whole(key) }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try whole(key) }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try whole(key) }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try level.decode(type, try value(key), key)
  }

  @inline(__always)
  private func exactly<T: Decodable>(_ key: Key, _ read: (Int) -> T?) throws -> T {
    let node = try value(key)
    if let value = read(node) { return value }
    throw mismatch(T.self, level.inner(node, key).codingPath)
  }

  @inline(__always)
  private func whole<N: FixedWidthInteger>(_ key: Key) throws -> N {
    let node = try value(key)
    if let number: N = level.message.integer(node) { return number }
    return try level.inner(node, key).whole()
  }

  // The protocol's own forms look for the key three times.
  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try ifPresent(type, key)
  }
  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try ifPresent(type, key)
  }
  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try ifPresent(type, key)
  }
  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try ifPresent(type, key)
  }
  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    try ifPresent(type, key)
  }

  private func ifPresent<T: Decodable>(_ type: T.Type, _ key: Key) throws -> T? {
    guard let value = level.find(key.stringValue), !level.message.isNull(value) else { return nil }
    return try level.decode(type, value, key)
  }

  func nestedContainer<Inner: CodingKey>(keyedBy type: Inner.Type, forKey key: Key) throws
    -> KeyedDecodingContainer<Inner>
  {
    try level.inner(try value(key), key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try level.inner(try value(key), key).unkeyedContainer()
  }

  func superDecoder() -> any Decoder {
    let key = PathKey.name("super")
    guard let value = level.find(key.stringValue) else {
      return Decoding(value: .null, codingPath: codingPath + [key])
    }
    return level.inner(value, key)
  }

  func superDecoder(forKey key: Key) throws -> any Decoder { level.inner(try value(key), key) }
}

/// The container of a list's elements.
struct UnkeyedLevel: UnkeyedDecodingContainer {
  private let level: DecodingLevel
  /// The node of the next value in a list of values.
  private var next: Int
  private(set) var currentIndex = 0

  init(level: DecodingLevel) {
    self.level = level
    next = level.node + 1
  }

  private var size: Int { level.message.count(level.node) }
  var codingPath: [any CodingKey] { level.codingPath }
  var count: Int? { size }
  var isAtEnd: Bool { currentIndex >= size }
  private var path: [any CodingKey] { codingPath + [PathKey.index(currentIndex)] }

  /// Throws unless the list has a next element. Returns it if the list is one of numbers.
  @inline(__always)
  private func element() throws -> Value? {
    guard currentIndex < size else {
      throw DecodingError.valueNotFound(
        Value.self, .init(codingPath: path, debugDescription: "the list has ended"))
    }
    return level.message.element(level.node, currentIndex)
  }

  private mutating func advance() {
    currentIndex += 1
    // A list of numbers has one node.
    if next < level.message.next(level.node) { next = level.message.next(next) }
  }

  mutating func decodeNil() throws -> Bool {
    if try element() != nil || !level.message.isNull(next) { return false }
    advance()
    return true
  }

  mutating func decode(_ type: UInt8.Type) throws -> UInt8 {
    if currentIndex < size, let byte = level.message.byte(level.node, currentIndex) {
      currentIndex += 1
      return byte
    }
    return try any(type)
  }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try any(type) }

  private mutating func any<T: Decodable>(_ type: T.Type) throws -> T {
    let value: T =
      if let element = try element() {
        try unboxed(type, element, path: path)
      } else {
        try level.decode(type, next, nil, index: currentIndex)
      }
    advance()
    return value
  }

  /// Returns the decoder of the next element.
  private func inner() throws -> any Decoder {
    if let element = try element() { return Decoding(value: element, codingPath: path) }
    return level.inner(next, nil, index: currentIndex)
  }

  mutating func nestedContainer<Inner: CodingKey>(keyedBy type: Inner.Type) throws
    -> KeyedDecodingContainer<Inner>
  {
    let inner = try inner().container(keyedBy: type)
    advance()
    return inner
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let inner = try inner().unkeyedContainer()
    advance()
    return inner
  }

  mutating func superDecoder() throws -> any Decoder {
    let inner = try inner()
    advance()
    return inner
  }
}
