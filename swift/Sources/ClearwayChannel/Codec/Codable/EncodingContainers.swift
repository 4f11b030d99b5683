// SPDX-License-Identifier: MIT OR Apache-2.0

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
      try boxed(value, scope.message.rules.extensions, path: codingPath + [key])
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
      try boxed(
        value, scope.message.rules.extensions, path: codingPath + [PathKey.index(count)])
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
