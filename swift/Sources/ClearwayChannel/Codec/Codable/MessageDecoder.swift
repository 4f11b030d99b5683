// SPDX-License-Identifier: MIT OR Apache-2.0

/// Decodes a type from a message of the standard codec, without a ``Value`` in between.
///
/// The value begins at `start`, and ends with the message.
func decodeMessage<T: Decodable>(
  _ type: T.Type, _ bytes: UnsafeRawBufferPointer, from start: Int = 0, _ rules: StandardRules
) throws -> T {
  var message = try IndexedMessage(bytes, from: start, rules)
  // The type may have kept a decoder or a container, which may be used later.
  defer { if !isKnownUniquelyReferenced(&message) { message.keepBytes() } }
  return try message.decode(type, 0) {
    try T(from: DecodingLevel(message, 0, parent: nil, key: nil, index: -1))
  }
}

extension IndexedMessage {
  /// Decodes a text, a number, a list of them or a custom value. Calls `other` for a type or a value that needs a decoder.
  ///
  /// Comparing types costs less than casts, and no optional of the generic type is made.
  func decode<T>(_ type: T.Type, _ node: Int, _ other: () throws -> T) throws -> T {
    if T.self == String.self {
      if let text = text(node) { return cast(text) }
    } else if T.self == Int.self {
      if let number: Int = integer(node) { return cast(number) }
    } else if T.self == Double.self {
      if let number = double(node) { return cast(number) }
    } else if T.self == Bool.self {
      if let flag = bool(node) { return cast(flag) }
    } else if T.self == [UInt8].self {
      if let list = numbers(node, Tag.bytes, as: UInt8.self) { return cast(list) }
    } else if T.self == [Double].self {
      if let list = numbers(node, Tag.float64s, as: Double.self) { return cast(list) }
      if let list = list(node, { double($0) }) { return cast(list) }
    } else if T.self == [Int].self {
      if let list: [Int] = list(node, { integer($0) }) { return cast(list) }
    } else if T.self == [String].self {
      if let list = list(node, { text($0) }) { return cast(list) }
    } else if T.self == [Int32].self {
      if let list = numbers(node, Tag.int32s, as: Int32.self) { return cast(list) }
    } else if T.self == [Int64].self {
      if let list = numbers(node, Tag.int64s, as: Int64.self) { return cast(list) }
    } else if T.self == [Float].self {
      if let list = numbers(node, Tag.float32s, as: Float.self) { return cast(list) }
    } else if T.self == Int64.self {
      if let number: Int64 = integer(node) { return cast(number) }
    } else if T.self == Value.self {
      return cast(try value(node))
    }
    if let own = custom(node), let value = own.base as? T { return value }
    return try other()
  }
}

/// The decoder of one value of a message.
///
/// It also is that value's container if a type decodes itself as a single value. A decoder is no
/// `Sendable`, and no access to its state lasts while a type's code runs, so the state is accessed
/// without run-time checks.
final class DecodingLevel: Decoder {
  let message: IndexedMessage
  /// The number of the value's node.
  let node: Int
  private let parent: DecodingLevel?
  private let key: (any CodingKey)?
  /// The position in a list. It is negative if the value has a key, or if it is the parent's own.
  private let index: Int
  /// The types around this one that decode themselves as a single value, which is this one's.
  let singles: Int
  /// The key that is probably asked for next, because most types ask in the order of writing.
  @exclusivity(unchecked) private var nextKey = -1
  @exclusivity(unchecked) private var lastKey = -1
  /// The nodes of the values by key. It is nil for small maps without repeated keys.
  @exclusivity(unchecked) private var byKey: [Value: Int]?

  /// The number of entries up to which a search is as fast as an index.
  private static let searchMax = 16

  init(
    _ message: IndexedMessage, _ node: Int, parent: DecodingLevel?, key: (any CodingKey)?,
    index: Int
  ) {
    self.message = message
    self.node = node
    self.parent = parent
    self.key = key
    self.index = index
    singles = parent?.node == node ? (parent?.singles ?? 0) + 1 : 0
  }

  var userInfo: [CodingUserInfoKey: Any] { [:] }

  var codingPath: [any CodingKey] {
    var path: [any CodingKey] = []
    var level = self
    while let parent = level.parent {
      if let key = level.key {
        path.append(key)
      } else if level.index >= 0 {
        path.append(PathKey.index(level.index))
      }
      level = parent
    }
    return path.reversed()
  }

  /// Decodes a value inside this one.
  @inline(__always)
  func decode<T: Decodable>(
    _ type: T.Type, _ child: Int, _ key: @autoclosure () -> (any CodingKey)?, index: Int = -1
  ) throws -> T {
    try message.decode(type, child) { try T(from: inner(child, key(), index: index)) }
  }

  func inner(_ child: Int, _ key: (any CodingKey)?, index: Int = -1) -> DecodingLevel {
    DecodingLevel(message, child, parent: self, key: key, index: index)
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    if message.tag(node) != Tag.map { throw mismatch([String: Value].self, codingPath) }
    try checkKeys(type, codingPath) {
      var areTexts = true
      forEachEntry { key, _ in areTexts = areTexts && message.tag(key) == Tag.text }
      return areTexts
    }
    if nextKey < 0 {
      nextKey = node + 1
      if message.count(node) > Self.searchMax || hasRepeatedKeys() { byKey = indexed() }
    }
    return KeyedDecodingContainer(KeyedLevel<Key>(level: self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let tag = message.tag(node)
    if tag != Tag.list, elementBytes(tag) == nil { throw mismatch([Value].self, codingPath) }
    return UnkeyedLevel(level: self)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  // MARK: Keys

  /// Calls `body` with the nodes of each entry.
  @inline(__always)
  func forEachEntry(_ body: (_ key: Int, _ value: Int) throws -> Void) rethrows {
    var at = node + 1
    let end = message.next(node)
    while at < end {
      let value = message.next(at)
      try body(at, value)
      at = message.next(value)
    }
  }

  /// Whether two keys may be the same text, by their sizes and bytes.
  private func hasRepeatedKeys() -> Bool {
    withUnsafeTemporaryAllocation(of: UInt64.self, capacity: Self.searchMax) { prints in
      var count = 0
      var isRepeated = false
      forEachEntry { key, _ in
        guard let print = message.fingerprint(key) else { return }
        for other in 0..<count where prints[other] == print { isRepeated = true }
        prints[count] = print
        count += 1
      }
      return isRepeated
    }
  }

  /// Returns the nodes of the values by text key. The last value of a repeated key counts.
  private func indexed() -> [Value: Int] {
    var made: [Value: Int] = [:]
    made.reserveCapacity(message.count(node))
    forEachEntry { key, value in
      if let text = message.text(key) { made[.string(text)] = value }
    }
    return made
  }

  /// Returns the node of a key's value, or nil without that key.
  func find(_ key: String) -> Int? {
    if let byKey { return byKey[.string(key)] }
    var key = key
    return key.withUTF8 { wanted -> Int? in
      let end = message.next(node)
      if nextKey < end, message.isText(nextKey, wanted) { return found(nextKey) }
      if lastKey >= 0, message.isText(lastKey, wanted) { return message.next(lastKey) }
      var at = node + 1
      while at < end {
        if message.isText(at, wanted) { return found(at) }
        at = message.next(message.next(at))
      }
      return nil
    }
  }

  @inline(__always)
  private func found(_ key: Int) -> Int {
    let value = message.next(key)
    lastKey = key
    nextKey = message.next(value)
    return value
  }

  /// The text keys, each once.
  var keys: [String] {
    var keys: [String] = []
    forEachEntry { key, value in
      guard let text = message.text(key) else { return }
      if byKey == nil || byKey?[.string(text)] == value { keys.append(text) }
    }
    return keys
  }
}

extension IndexedMessage {
  /// Returns a number that two texts share if they are equal, or nil for a key that is no text.
  fileprivate func fingerprint(_ key: Int) -> UInt64? {
    if tag(key) != Tag.text { return nil }
    return withText(key) { bytes in
      var print = UInt64(bytes.count)
      for at in stride(from: 0, to: bytes.count, by: 8) {
        var word: UInt64 = 0
        if at + 8 <= bytes.count {
          word = bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self)
        } else {
          for byte in bytes[at...] { word = word << 8 | UInt64(byte) }
        }
        print = (print ^ word) &* 0x9e37_79b9_7f4a_7c15
      }
      return print
    }
  }
}
