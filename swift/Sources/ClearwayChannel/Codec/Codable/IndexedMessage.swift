// SPDX-License-Identifier: MIT OR Apache-2.0

/// A message of the standard codec with the places of its values.
///
/// A type that decodes itself asks for values in any order, and leaves some out. The index is made in
/// one pass. That pass refuses what ``StandardReader`` refuses, at the same byte.
///
/// An access to a class's property has a run-time check, which took a tenth of the time of decoding.
/// No access lasts while another one begins here.
final class IndexedMessage {
  /// A value, in the order of the bytes. A map's keys and values follow it, as a list's values do.
  private struct Node {
    /// The offset of the type byte.
    let at: Int
    /// The bytes of a text, the elements of a list, or the entries of a map.
    var count: UInt32 = 0
    /// The number of the node after this value and everything inside it.
    var next: UInt32 = 0
  }

  @exclusivity(unchecked) private var base: UnsafeRawPointer
  private let size: Int
  private let unlimited: StandardRules
  @exclusivity(unchecked) private var nodes: UnsafeMutablePointer<Node>
  private var capacity: Int
  private var used = 0
  /// The custom values by the numbers of their nodes. Only their extensions know where they end.
  @exclusivity(unchecked) private var customs: [Int: CustomValue] = [:]
  /// The bytes, once the message owns them.
  private var owned: UnsafeMutableRawPointer?

  /// Indexes the value from `start` to the end of a message.
  ///
  /// The message must outlive this object or the call of ``keepBytes()``.
  init(_ message: UnsafeRawBufferPointer, from start: Int = 0, _ rules: StandardRules)
    throws(ClearwayError)
  {
    var source = StandardReader(message, rules)
    unlimited = rules.unlimited
    source.reader.at = start
    base = source.reader.base
    size = message.count
    // A value of an app's type has about 8 bytes. The array grows with what has arrived.
    capacity = max(16, min(message.count / 8, 1 << 16))
    nodes = .allocate(capacity: capacity)
    try add(&source, 0)
    try source.reader.finish()
  }

  deinit {
    nodes.deallocate()
    owned?.deallocate()
  }

  /// Copies the bytes, because a decoder of the message is still in use after the decoding.
  func keepBytes() {
    if owned != nil || size == 0 { return }
    let copy = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
    copy.copyMemory(from: base, byteCount: size)
    owned = copy
    base = UnsafeRawPointer(copy)
  }

  private func add(_ source: inout StandardReader, _ depth: Int) throws(ClearwayError) {
    let node = try push(source.reader.at)
    let tag = try source.reader.byte()
    switch tag {
    case Tag.null, Tag.yes, Tag.no: break
    case Tag.int32: try source.reader.skip(4)
    case Tag.int64: try source.reader.skip(8)
    case Tag.float64: _ = try source.reader.float64()
    case Tag.text: nodes[node].count = UInt32(try source.reader.skipText())
    case Tag.list:
      try source.enter(depth)
      let count = try source.count(1)
      nodes[node].count = UInt32(count)
      for _ in 0..<count { try add(&source, depth + 1) }
    case Tag.map:
      try source.enter(depth)
      let count = try source.count(2)
      nodes[node].count = UInt32(count)
      for _ in 0..<2 * count { try add(&source, depth + 1) }
    case Tag.big: _ = try source.big()
    default:
      if let own = source.own(tag) {
        customs[node] = try source.custom(own, depth)
      } else {
        nodes[node].count = UInt32(try source.skipNumbers(tag))
      }
    }
    nodes[node].next = UInt32(used)
  }

  @inline(__always)
  private func push(_ at: Int) throws(ClearwayError) -> Int {
    if used == capacity { try grow(at) }
    (nodes + used).initialize(to: Node(at: at))
    used += 1
    return used - 1
  }

  @inline(never)
  private func grow(_ at: Int) throws(ClearwayError) {
    let wanted = min(capacity * 2, Int(UInt32.max))
    if wanted == capacity { throw ClearwayError(.tooLarge, "too many values", offset: at) }
    let larger = UnsafeMutablePointer<Node>.allocate(capacity: wanted)
    larger.moveInitialize(from: nodes, count: used)
    nodes.deallocate()
    nodes = larger
    capacity = wanted
  }

  // MARK: Places

  /// Returns the number of the node after a value and everything inside it.
  @inline(__always)
  func next(_ node: Int) -> Int { Int(nodes[node].next) }

  /// Returns the bytes of a text, the elements of a list, or the entries of a map.
  @inline(__always)
  func count(_ node: Int) -> Int { Int(nodes[node].count) }

  @inline(__always)
  func tag(_ node: Int) -> UInt8 { base.load(fromByteOffset: nodes[node].at, as: UInt8.self) }

  @inline(__always)
  private func load<N: BitwiseCopyable>(_ offset: Int, as _: N.Type) -> N {
    base.loadUnaligned(fromByteOffset: offset, as: N.self)
  }

  /// Returns the offset after a type byte and a size.
  @inline(__always)
  private func afterSize(_ node: Int) -> Int {
    let at = nodes[node].at + 1
    switch load(at, as: UInt8.self) {
    case SizeByte.two: return at + 3
    case SizeByte.four: return at + 5
    default: return at + 1
    }
  }

  // MARK: Values

  /// Returns the value of a node as a whole.
  func value(_ node: Int) throws(ClearwayError) -> Value {
    var source = StandardReader(UnsafeRawBufferPointer(start: base, count: size), unlimited)
    source.reader.at = nodes[node].at
    return try source.value(0)
  }

  /// Returns a custom value, or nil for another kind.
  @inline(__always)
  func custom(_ node: Int) -> CustomValue? {
    tag(node) < Tag.extensionMin ? nil : customs[node]
  }

  @inline(__always)
  func isNull(_ node: Int) -> Bool { tag(node) == Tag.null }

  @inline(__always)
  func bool(_ node: Int) -> Bool? {
    switch tag(node) {
    case Tag.yes: true
    case Tag.no: false
    default: nil
    }
  }

  @inline(__always)
  func text(_ node: Int) -> String? {
    if tag(node) != Tag.text { return nil }
    let bytes = UnsafeRawBufferPointer(start: base + afterSize(node), count: count(node))
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Lends the bytes of a text during `body`.
  @inline(__always)
  func withText<R>(_ node: Int, _ body: (UnsafeRawBufferPointer) -> R) -> R {
    body(UnsafeRawBufferPointer(start: base + afterSize(node), count: count(node)))
  }

  /// Whether a node is this text.
  @inline(__always)
  func isText(_ node: Int, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
    if count(node) != text.count || tag(node) != Tag.text { return false }
    guard let wanted = text.baseAddress else { return true }
    return isSame(base + afterSize(node), UnsafeRawPointer(wanted), text.count)
  }

  /// Returns an integer that fits exactly, also if it crossed as a float. Returns nil for another kind.
  @inline(__always)
  func integer<N: FixedWidthInteger>(_ node: Int) -> N? {
    let at = nodes[node].at + 1
    switch tag(node) {
    case Tag.int32: return N(exactly: load(at, as: Int32.self))
    case Tag.int64: return N(exactly: load(at, as: Int64.self))
    case Tag.float64: return exactInteger(load(at + (-at & 7), as: Double.self))
    default: return nil
    }
  }

  /// Returns a number that fits exactly as a float. Returns nil for another kind.
  @inline(__always)
  func double(_ node: Int) -> Double? {
    let at = nodes[node].at + 1
    switch tag(node) {
    case Tag.float64: return load(at + (-at & 7), as: Double.self)
    case Tag.int32: return Double(load(at, as: Int32.self))
    case Tag.int64: return Double(exactly: load(at, as: Int64.self))
    default: return nil
    }
  }

  /// Returns the elements of a list of numbers with this type byte, or nil for another kind.
  func numbers<N: BitwiseCopyable>(_ node: Int, _ wanted: UInt8, as _: N.Type) -> [N]? {
    if tag(node) != wanted { return nil }
    let width = MemoryLayout<N>.size
    let bytes = UnsafeRawBufferPointer(
      start: base + elements(node, width), count: count(node) * width)
    return copied(bytes, as: N.self)
  }

  /// Returns the offset of the first element in a list of numbers.
  @inline(__always)
  private func elements(_ node: Int, _ width: Int) -> Int {
    let at = afterSize(node)
    return at + (-at & (width - 1))
  }

  /// Returns an element of a list of numbers, or nil for another kind.
  @inline(__always)
  func element(_ node: Int, _ index: Int) -> Value? {
    let tag = tag(node)
    guard let width = elementBytes(tag) else { return nil }
    let at = elements(node, width) + index * width
    switch tag {
    case Tag.bytes: return .int(Int64(load(at, as: UInt8.self)))
    case Tag.int32s: return .int(Int64(load(at, as: Int32.self)))
    case Tag.int64s: return .int(load(at, as: Int64.self))
    case Tag.float32s: return .double(Double(load(at, as: Float.self)))
    default: return .double(load(at, as: Double.self))
    }
  }

  /// Returns a byte of a list of bytes, or nil for another kind.
  @inline(__always)
  func byte(_ node: Int, _ index: Int) -> UInt8? {
    tag(node) == Tag.bytes ? load(afterSize(node) + index, as: UInt8.self) : nil
  }

  /// Returns the values of a list as elements of one type. Returns nil if one has another type.
  @inline(__always)
  func list<T>(_ node: Int, _ read: (Int) -> T?) -> [T]? {
    if tag(node) != Tag.list { return nil }
    var list: [T] = []
    list.reserveCapacity(count(node))
    var at = node + 1
    let end = next(node)
    while at < end {
      guard let each = read(at) else { return nil }
      list.append(each)
      at = next(at)
    }
    return list
  }
}

/// Compares two pieces of memory.
@inline(__always)
private func isSame(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer, _ count: Int) -> Bool {
  var at = 0
  while at + 8 <= count {
    let left = a.loadUnaligned(fromByteOffset: at, as: UInt64.self)
    if left != b.loadUnaligned(fromByteOffset: at, as: UInt64.self) { return false }
    at += 8
  }
  while at < count {
    let left = a.load(fromByteOffset: at, as: UInt8.self)
    if left != b.load(fromByteOffset: at, as: UInt8.self) { return false }
    at += 1
  }
  return true
}
