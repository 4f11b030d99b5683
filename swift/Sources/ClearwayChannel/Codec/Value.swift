// SPDX-License-Identifier: MIT OR Apache-2.0

/// A value that the standard codec and the JSON codec carry. The JSON codec has no custom values.
///
/// Two values are equal if their parts are. Texts are compared by their bytes, so a composed letter
/// differs from the same letter with a combining mark.
public enum Value: Sendable {
  /// No value.
  case null
  /// True or false.
  case bool(Bool)
  /// An integer of 64 bits. The codec writes 32 bits if they suffice.
  case int(Int64)
  /// An integer beyond 64 bits.
  case big(BigInteger)
  /// A float of 64 bits.
  case double(Double)
  /// A text.
  case string(String)
  /// A list of bytes.
  case bytes([UInt8])
  /// A list of integers of 32 bits.
  case int32s([Int32])
  /// A list of integers of 64 bits.
  case int64s([Int64])
  /// A list of floats of 32 bits.
  case floats([Float])
  /// A list of floats of 64 bits.
  case doubles([Double])
  /// A list of values of any kind.
  case list([Value])
  /// A map with keys of any kind, in the order in which they were added.
  case map(ValueMap)
  /// A value of a type of your own. The codec needs a ``CodecExtension`` for the type.
  case custom(CustomValue)
}

extension Value {
  /// Returns the integer, or nil for another kind.
  public var intValue: Int64? {
    if case .int(let value) = self { return value }
    return nil
  }

  /// Returns the float, or an integer as float, or nil for another kind.
  public var doubleValue: Double? {
    switch self {
    case .double(let value): return value
    case .int(let value): return Double(value)
    default: return nil
    }
  }

  /// Returns the text, or nil for another kind.
  public var stringValue: String? {
    if case .string(let value) = self { return value }
    return nil
  }

  /// Returns true or false, or nil for another kind.
  public var boolValue: Bool? {
    if case .bool(let value) = self { return value }
    return nil
  }

  /// Returns the bytes, or nil for another kind.
  public var bytesValue: [UInt8]? {
    if case .bytes(let value) = self { return value }
    return nil
  }

  /// Returns the list, or nil for another kind.
  public var listValue: [Value]? {
    if case .list(let value) = self { return value }
    return nil
  }

  /// Returns the map, or nil for another kind.
  public var mapValue: ValueMap? {
    if case .map(let value) = self { return value }
    return nil
  }

  /// Whether this is null.
  public var isNull: Bool {
    if case .null = self { return true }
    return false
  }

  /// Returns the value of a map's text key. Returns nil without that key, and for another kind.
  public subscript(key: String) -> Value? {
    guard case .map(let map) = self else { return nil }
    return map[.string(key)]
  }

  /// Returns an element of a list. Returns nil outside the list, and for another kind.
  public subscript(index: Int) -> Value? {
    guard case .list(let list) = self, list.indices.contains(index) else { return nil }
    return list[index]
  }
}

extension Value {
  /// The bytes of all lists of numbers, those that several places share at each of them.
  var listBytes: Int {
    switch self {
    case .bytes(let list): list.count
    case .int32s(let list): list.count * 4
    case .int64s(let list): list.count * 8
    case .floats(let list): list.count * 4
    case .doubles(let list): list.count * 8
    case .list(let list): list.reduce(0) { $0 + $1.listBytes }
    case .map(let map): map.reduce(0) { $0 + $1.key.listBytes + $1.value.listBytes }
    default: 0
    }
  }
}

extension Value: Hashable {
  /// Compares two values by their parts. NaN equals NaN.
  public static func == (left: Value, right: Value) -> Bool {
    switch (left, right) {
    case (.null, .null): return true
    case (.bool(let a), .bool(let b)): return a == b
    case (.int(let a), .int(let b)): return a == b
    case (.big(let a), .big(let b)): return a == b
    case (.double(let a), .double(let b)): return isSame(a, b)
    case (.string(let a), .string(let b)): return isSameText(a, b)
    case (.bytes(let a), .bytes(let b)): return a == b
    case (.int32s(let a), .int32s(let b)): return a == b
    case (.int64s(let a), .int64s(let b)): return a == b
    case (.floats(let a), .floats(let b)): return a.elementsEqual(b, by: isSame)
    case (.doubles(let a), .doubles(let b)): return a.elementsEqual(b, by: isSame)
    case (.list(let a), .list(let b)): return a == b
    case (.map(let a), .map(let b)): return a == b
    case (.custom(let a), .custom(let b)): return a == b
    default: return false
    }
  }

  /// Adds the value's parts to a hash.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .bool(let value): hasher.combine(value)
    case .int(let value): hasher.combine(value)
    case .big(let value): hasher.combine(value)
    case .double(let value): hasher.combine(value.isNaN ? Double.nan.bitPattern : value.bitPattern)
    case .string(let value): hashText(value, into: &hasher)
    case .bytes(let value): hasher.combine(value)
    case .int32s(let value): hasher.combine(value)
    case .int64s(let value): hasher.combine(value)
    case .floats(let value): hasher.combine(value.count)
    case .doubles(let value): hasher.combine(value.count)
    case .list(let value): hasher.combine(value)
    // Two equal maps may have their entries in different orders.
    case .map(let value): hasher.combine(value.count)
    case .custom(let value): hasher.combine(value)
    }
  }
}

private func isSame<F: BinaryFloatingPoint>(_ a: F, _ b: F) -> Bool {
  a == b ? a.sign == b.sign : a.isNaN && b.isNaN
}

/// Compares two texts by their bytes. Swift's own `==` also holds for other bytes of the same letters, which
/// it decomposes: a peer could choose texts that take long.
func isSameText(_ a: String, _ b: String) -> Bool {
  a.utf8.count == b.utf8.count && a.utf8.elementsEqual(b.utf8)
}

/// Hashes a text's bytes. Swift's own hash is equal for all spellings of the same letters, which a
/// peer could use to make keys that collide.
func hashText(_ text: String, into hasher: inout Hasher) {
  let isDone: Void? = text.utf8.withContiguousStorageIfAvailable {
    hasher.combine(bytes: UnsafeRawBufferPointer($0))
  }
  if isDone == nil { for byte in text.utf8 { hasher.combine(byte) } }
}

extension Value: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  /// Makes null.
  public init(nilLiteral: ()) { self = .null }
  /// Makes true or false.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// Makes an integer.
  public init(integerLiteral value: Int64) { self = .int(value) }
  /// Makes a float.
  public init(floatLiteral value: Double) { self = .double(value) }
  /// Makes a text.
  public init(stringLiteral value: String) { self = .string(value) }
  /// Makes a list.
  public init(arrayLiteral elements: Value...) { self = .list(elements) }
  /// Makes a map. The last value of a repeated key wins.
  public init(dictionaryLiteral elements: (Value, Value)...) {
    var map = ValueMap()
    for (key, value) in elements { map[key] = value }
    self = .map(map)
  }
}

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

/// An integer of any size, as the standard codec writes it: a sign and hex digits.
///
/// It is for carrying such integers, and has no arithmetic.
public struct BigInteger: Sendable, Hashable {
  /// Whether the integer is below zero.
  public let isNegative: Bool
  /// The digits of the magnitude, in lower case, without leading zeros; "0" for zero.
  public let hexDigits: String

  /// The largest number of digits that a codec accepts.
  static let digitsMax = 1 << 20

  /// Makes an integer from hex digits with an optional minus. Returns nil for another text.
  public init?(hex: some StringProtocol) {
    let minus = hex.utf8.first == UInt8(ascii: "-")
    let digits = hex.utf8.dropFirst(minus ? 1 : 0)
    guard !digits.isEmpty, digits.allSatisfy({ hexValue($0) != nil }) else { return nil }
    self.init(isNegative: minus, validDigits: digits.lazy.map { $0 })
  }

  init(isNegative: Bool, validDigits: some Sequence<UInt8>) {
    let kept = Array(validDigits.drop { $0 == UInt8(ascii: "0") })
    let lower = kept.map { $0 < 0x60 && $0 > 0x39 ? $0 | 0x20 : $0 }
    hexDigits = lower.isEmpty ? "0" : String(decoding: lower, as: UTF8.self)
    self.isNegative = isNegative && !lower.isEmpty
  }

  /// Returns the integer of 64 bits, or nil if it has more.
  public var int64: Int64? {
    Int64((isNegative ? "-" : "") + hexDigits, radix: 16)
  }

  /// Returns the nearest float. A float halfway between two is the one that ends in an even bit.
  public var doubleValue: Double {
    let digits = Array(hexDigits.utf8)
    // 15 digits and one that is odd if any later digit is not zero: 60 bits, and the float has 53.
    var head: UInt64 = 0
    for digit in digits.prefix(15) { head = head << 4 | UInt64(hexValue(digit) ?? 0) }
    let rest = digits.dropFirst(15)
    let sticky = rest.contains { $0 != UInt8(ascii: "0") } ? 1 : 0 as UInt64
    if rest.isEmpty { return isNegative ? -Double(head) : Double(head) }
    let value = scaled(Double(head << 4 | sticky), by: 4 * (rest.count - 1))
    return isNegative ? -value : value
  }

  private func scaled(_ value: Double, by bits: Int) -> Double {
    bits > 1100
      ? .infinity
      : value * Double(sign: .plus, exponent: min(bits, 600), significand: 1)
        * Double(sign: .plus, exponent: max(0, bits - 600), significand: 1)
  }
}

/// Returns the value of a hex digit in either case, or nil.
@inline(__always)
func hexValue(_ byte: UInt8) -> UInt8? {
  switch byte {
  case 0x30...0x39: return byte - 0x30
  case 0x41...0x46: return byte - 0x41 + 10
  case 0x61...0x66: return byte - 0x61 + 10
  default: return nil
  }
}

extension BigInteger: CustomStringConvertible {
  /// The hex digits, with `0x`, and a minus before it.
  public var description: String { "\(isNegative ? "-" : "")0x\(hexDigits)" }
}
