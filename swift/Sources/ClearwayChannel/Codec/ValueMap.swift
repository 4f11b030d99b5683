// SPDX-License-Identifier: MIT OR Apache-2.0

/// A map from values to values that keeps the order of its entries.
///
/// A repeated key keeps the position of its first entry and gets the last value. A list, a map, a list of
/// numbers or a custom value that is a key of a message that arrived equals no other key, because
/// comparing such keys would let a peer choose how long this takes.
public struct ValueMap: Sendable {
  /// A key and its value.
  public struct Entry: Sendable, Hashable {
    /// The key.
    public let key: Value
    /// The value.
    public internal(set) var value: Value
  }

  /// The entries, in the order in which their keys were added.
  public private(set) var entries: [Entry]
  /// The positions of the keys; nil while a search through the entries is as fast.
  private var index: [Value: Int]?

  /// The number of entries up to which a search is as fast as an index.
  private static let searchMax = 12

  /// Makes an empty map.
  public init() { entries = [] }

  init(capacity: Int) {
    entries = []
    entries.reserveCapacity(capacity)
  }

  /// The number of entries.
  public var count: Int { entries.count }

  /// Whether there are no entries.
  public var isEmpty: Bool { entries.isEmpty }

  /// Returns the value of a key, or nil without that key. Setting nil removes the key.
  public subscript(key: Value) -> Value? {
    get { position(of: key).map { entries[$0].value } }
    set {
      if let newValue {
        put(key, newValue)
      } else if let at = position(of: key) {
        entries.remove(at: at)
        index = nil
        if entries.count > Self.searchMax { makeIndex() }
      }
    }
  }

  /// Returns the value of a text key, or nil without that key. Setting nil removes the key.
  public subscript(key: String) -> Value? {
    get { self[.string(key)] }
    set { self[.string(key)] = newValue }
  }

  /// Adds an entry, or replaces the value of its key.
  mutating func put(_ key: Value, _ value: Value) {
    if let at = position(of: key) {
      entries[at].value = value
    } else {
      append(key, value)
    }
  }

  /// Adds an entry of a message. Keys that are not scalars are not compared.
  mutating func putReceived(_ key: Value, _ value: Value) {
    if key.isScalar { put(key, value) } else { append(key, value) }
  }

  private mutating func append(_ key: Value, _ value: Value) {
    entries.append(Entry(key: key, value: value))
    if index != nil {
      if key.isScalar { index?[key] = entries.count - 1 }
    } else if entries.count > Self.searchMax {
      makeIndex()
    }
  }

  private mutating func makeIndex() {
    var made = [Value: Int](minimumCapacity: entries.count * 2)
    for (at, entry) in entries.enumerated() where entry.key.isScalar { made[entry.key] = at }
    index = made
  }

  private func position(of key: Value) -> Int? {
    if let index, key.isScalar { return index[key] }
    for at in entries.indices where entries[at].key == key { return at }
    return nil
  }
}

extension Value {
  fileprivate var isScalar: Bool {
    switch self {
    case .null, .bool, .int, .big, .double, .string: return true
    default: return false
    }
  }
}

extension ValueMap: Hashable {
  /// Compares two maps by their entries, in any order.
  public static func == (left: ValueMap, right: ValueMap) -> Bool {
    guard left.count == right.count else { return false }
    if left.entries == right.entries { return true }
    return left.entries.allSatisfy { right[$0.key] == $0.value }
  }

  /// Adds the number of entries to a hash.
  public func hash(into hasher: inout Hasher) { hasher.combine(count) }
}

extension ValueMap: Sequence, ExpressibleByDictionaryLiteral {
  /// Returns an iterator over the entries.
  public func makeIterator() -> IndexingIterator<[Entry]> { entries.makeIterator() }

  /// Makes a map. The last value of a repeated key wins.
  public init(dictionaryLiteral elements: (Value, Value)...) {
    self.init()
    for (key, value) in elements { put(key, value) }
  }
}
