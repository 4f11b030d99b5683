// SPDX-License-Identifier: MIT OR Apache-2.0

/// Decodes the values of one message with the standard codec.
struct StandardReader {
  var reader: ByteReader
  private let depthMax: Int
  private let itemsMax: Int
  private var itemsLeft: Int
  /// The message's attachments; nil if it cannot have any.
  private let attachments: Attachments?
  private let extensions: Extensions?
  /// The bytes of the attachments that were copied out.
  private var attachedBytes = 0
  /// The copies, by the attachment's number and the list's type byte.
  private var copies: [Int: Value] = [:]

  /// The capacity of a list or a map before its values are read. A larger count allocates nothing in
  /// advance, because each of several nested lists could announce the whole rest of the message.
  private static let firstCapacity = 64

  init(
    _ message: UnsafeRawBufferPointer, _ rules: StandardRules, valuesMax: Int = .max,
    attachments: Attachments? = nil
  ) {
    reader = ByteReader(message)
    depthMax = rules.limits.depthMax
    itemsMax = min(rules.limits.itemsMax, valuesMax)
    itemsLeft = itemsMax
    self.attachments = attachments
    extensions = rules.extensions
  }

  /// Returns this reader for the time in which an extension reads. The copies move with it: a second
  /// reference to them would make each addition copy all of them.
  mutating func lent() -> StandardReader {
    let reader = self
    copies = [:]
    return reader
  }

  /// Reads a value with its type byte. `depth` counts the lists, maps and custom values
  /// around it.
  mutating func value(_ depth: Int) throws(ClearwayError) -> Value {
    let tag = try reader.byte()
    switch tag {
    case Tag.null: return .null
    case Tag.yes: return .bool(true)
    case Tag.no: return .bool(false)
    case Tag.int32: return .int(Int64(try reader.number(Int32.self)))
    case Tag.int64: return .int(try reader.number(Int64.self))
    case Tag.float64: return .double(try reader.float64())
    case Tag.text: return .string(try reader.text())
    case Tag.list:
      try enter(depth)
      return try list(depth + 1)
    case Tag.map:
      try enter(depth)
      return try map(depth + 1)
    case Tag.big: return try big()
    default:
      if let own = own(tag) { return .custom(try custom(own, depth)) }
      return try numbers(tag)
    }
  }

  /// Returns the extension of a type byte.
  @inline(__always)
  func own(_ tag: UInt8) -> CodecExtension? {
    tag < Tag.extensionMin ? nil : extensions?.of(tag: tag)
  }

  @inline(__always)
  func enter(_ depth: Int) throws(ClearwayError) {
    if depth >= depthMax {
      throw ClearwayError(
        .tooDeep, "values are nested deeper than \(depthMax)", offset: reader.at - 1)
    }
  }

  /// Reads a count of values of at least `each` bytes.
  @inline(__always)
  mutating func count(_ each: Int) throws(ClearwayError) -> Int {
    let from = reader.at
    let count = try reader.size()
    try reader.need(count * each, from)
    try charge(count * each, from)
    return count
  }

  /// Counts values of the message. Throws `too-large` if they are too many.
  @inline(__always)
  mutating func charge(_ values: Int, _ from: Int) throws(ClearwayError) {
    itemsLeft -= values
    if itemsLeft < 0 {
      throw ClearwayError(.tooLarge, "more than \(itemsMax) values", offset: from)
    }
  }

  private mutating func list(_ inside: Int) throws(ClearwayError) -> Value {
    let count = try count(1)
    var list: [Value] = []
    list.reserveCapacity(min(count, Self.firstCapacity))
    for _ in 0..<count { list.append(try value(inside)) }
    return .list(list)
  }

  private mutating func map(_ inside: Int) throws(ClearwayError) -> Value {
    let count = try count(2)
    var map = ValueMap(capacity: min(count, Self.firstCapacity))
    for _ in 0..<count {
      let key = try value(inside)
      map.putReceived(key, try value(inside))
    }
    return .map(map)
  }

  mutating func big() throws(ClearwayError) -> Value {
    let from = reader.at
    let size = try reader.sized()
    let first = reader.at
    let text = UnsafeRawBufferPointer(start: reader.base + first, count: size)
    let minus = text.first == UInt8(ascii: "-")
    let digits = text.dropFirst(minus ? 1 : 0)
    if digits.count > BigInteger.digitsMax {
      throw ClearwayError(.tooLarge, "a big integer of \(digits.count) hex digits", offset: from)
    }
    reader.at += size
    let wrong = validUntil(reader.base, first, reader.at)
    if wrong < reader.at {
      throw ClearwayError(.badUTF8, "a big integer is not UTF-8", offset: wrong)
    }
    if digits.isEmpty || !digits.allSatisfy({ hexValue($0) != nil }) {
      throw ClearwayError(.malformed, "a big integer is not written in hex digits", offset: from)
    }
    let value = BigInteger(isNegative: minus, validDigits: digits)
    return value.int64.map { .int($0) } ?? .big(value)
  }

  private mutating func numbers(_ tag: UInt8) throws(ClearwayError) -> Value {
    switch tag {
    case Tag.bytes: return .bytes(try elements(UInt8.self))
    case Tag.int32s: return .int32s(try elements(Int32.self))
    case Tag.int64s: return .int64s(try elements(Int64.self))
    case Tag.float32s: return .floats(try elements(Float.self))
    case Tag.float64s: return .doubles(try elements(Double.self))
    case Tag.attached:
      if let attachments { return try attached(attachments) }
      fallthrough
    default: throw unknown(tag)
    }
  }

  private func unknown(_ tag: UInt8) -> ClearwayError {
    ClearwayError(
      .unknownTag, "type \(tag) is \(tag < 128 ? "reserved" : "no extension here")",
      offset: reader.at - 1)
  }

  /// Skips a list of numbers after its type byte. Returns the number of its elements.
  mutating func skipNumbers(_ tag: UInt8) throws(ClearwayError) -> Int {
    guard let width = elementBytes(tag) else { throw unknown(tag) }
    let from = reader.at
    let count = try reader.size()
    try reader.pad(width, from)
    try reader.need(count * width, from)
    reader.at += count * width
    return count
  }

  private mutating func elements<N: BitwiseCopyable>(_: N.Type) throws(ClearwayError) -> [N] {
    let from = reader.at
    let count = try reader.size()
    try reader.pad(MemoryLayout<N>.size, from)
    let size = count * MemoryLayout<N>.size
    try reader.need(size, from)
    defer { reader.at += size }
    return copied(
      UnsafeRawBufferPointer(start: reader.base + reader.at, count: size), as: N.self)
  }

  /// Reads a list that travels next to the message. Places that name the same one share its copy.
  private mutating func attached(_ attachments: Attachments) throws(ClearwayError) -> Value {
    let from = reader.at
    let tag = try reader.byte()
    let number = try reader.size()
    guard number < attachments.ranges.count else {
      throw ClearwayError(.malformed, "there is no attachment \(number)", offset: from)
    }
    if let made = copies[number << 8 | Int(tag)] { return made }
    let bytes = attachments.bytes(number)
    let value: Value? =
      switch tag {
      case Tag.bytes: .bytes(copied(bytes, as: UInt8.self))
      case Tag.int32s: bytes.count % 4 == 0 ? .int32s(copied(bytes, as: Int32.self)) : nil
      case Tag.float32s: bytes.count % 4 == 0 ? .floats(copied(bytes, as: Float.self)) : nil
      case Tag.int64s: bytes.count % 8 == 0 ? .int64s(copied(bytes, as: Int64.self)) : nil
      case Tag.float64s: bytes.count % 8 == 0 ? .doubles(copied(bytes, as: Double.self)) : nil
      default: nil
      }
    guard let value else {
      throw ClearwayError(.malformed, "an attachment is no list of type \(tag)", offset: from)
    }
    attachedBytes += bytes.count
    if attachedBytes > attachments.bytesMax {
      throw ClearwayError(.tooLarge, "copies of attachments exceed the largest frame", offset: from)
    }
    copies[number << 8 | Int(tag)] = value
    return value
  }

  mutating func plainText() throws(ClearwayError) -> String {
    let from = reader.at
    if try reader.byte() != Tag.text {
      throw ClearwayError(.malformed, "a text was expected", offset: from)
    }
    return try reader.text()
  }

  mutating func textOrNull() throws(ClearwayError) -> String? {
    if reader.left > 0, reader.base.load(fromByteOffset: reader.at, as: UInt8.self) == Tag.null {
      reader.at += 1
      return nil
    }
    return try plainText()
  }
}

/// The attachments of a message, inside the frame that carried it.
struct Attachments {
  /// The frame.
  let frame: UnsafeRawBufferPointer
  let ranges: [Range<Int>]
  /// The bytes that copies may have in total.
  let bytesMax: Int

  func bytes(_ number: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: frame[ranges[number]])
  }
}

/// Copies memory of any alignment into a list.
func copied<N: BitwiseCopyable>(_ bytes: UnsafeRawBufferPointer, as _: N.Type) -> [N] {
  let count = bytes.count / MemoryLayout<N>.size
  return [N](unsafeUninitializedCapacity: count) { memory, filled in
    if count > 0 { UnsafeMutableRawBufferPointer(memory).copyMemory(from: bytes) }
    filled = count
  }
}

/// Returns whether all bytes are ASCII.
@inline(__always)
func isASCII(_ base: UnsafeRawPointer, _ start: Int, _ end: Int) -> Bool {
  var at = start
  while at + 8 <= end {
    let eight = base.loadUnaligned(fromByteOffset: at, as: UInt64.self)
    if eight & 0x8080_8080_8080_8080 != 0 { return false }
    at += 8
  }
  var all: UInt8 = 0
  while at < end {
    all |= base.load(fromByteOffset: at, as: UInt8.self)
    at += 1
  }
  return all < 0x80
}

/// Decodes the bytes from `start` to `end` as a text.
///
/// Throws `bad-utf8` with the offset of the first ill-formed sequence. Swift's own decoder would
/// replace it.
@inline(__always)
func readUTF8(_ base: UnsafeRawPointer, _ start: Int, _ end: Int) throws(ClearwayError) -> String {
  try checkUTF8(base, start, end)
  return String(
    decoding: UnsafeRawBufferPointer(start: base + start, count: end - start), as: UTF8.self)
}

/// Throws `bad-utf8` with the offset of the first ill-formed sequence.
@inline(__always)
func checkUTF8(_ base: UnsafeRawPointer, _ start: Int, _ end: Int) throws(ClearwayError) {
  if isASCII(base, start, end) { return }
  let wrong = validUntil(base, start, end)
  if wrong < end { throw ClearwayError(.badUTF8, "a text is not UTF-8", offset: wrong) }
}

/// Returns the offset of the first ill-formed sequence, or `end`. Follows table 3-7 of Unicode 16.
func validUntil(_ base: UnsafeRawPointer, _ start: Int, _ end: Int) -> Int {
  var at = start
  while at < end {
    let first = base.load(fromByteOffset: at, as: UInt8.self)
    if first < 0x80 {
      at += 1
      continue
    }
    let more: Int
    switch first {
    case 0xc2..<0xe0: more = 1
    case 0xe0..<0xf0: more = 2
    case 0xf0..<0xf5: more = 3
    default: return at
    }
    if at + more >= end { return at }
    for next in 1...more {
      let byte = base.load(fromByteOffset: at + next, as: UInt8.self)
      var (least, most): (UInt8, UInt8) = (0x80, 0xbf)
      if next == 1 {
        switch first {
        case 0xe0: least = 0xa0
        case 0xed: most = 0x9f
        case 0xf0: least = 0x90
        case 0xf4: most = 0x8f
        default: break
        }
      }
      if byte < least || byte > most { return at }
    }
    at += more + 1
  }
  return end
}

/// The type bytes of the standard codec (`spec/wire.md`).
enum Tag {
  static let null: UInt8 = 0
  static let yes: UInt8 = 1
  static let no: UInt8 = 2
  static let int32: UInt8 = 3
  static let int64: UInt8 = 4
  static let big: UInt8 = 5
  static let float64: UInt8 = 6
  static let text: UInt8 = 7
  static let bytes: UInt8 = 8
  static let int32s: UInt8 = 9
  static let int64s: UInt8 = 10
  static let float64s: UInt8 = 11
  static let list: UInt8 = 12
  static let map: UInt8 = 13
  static let float32s: UInt8 = 14
  /// A list of numbers that travels next to its message (`spec/channel.md`).
  static let attached: UInt8 = 127
  /// The first type byte of the app's own types.
  static let extensionMin: UInt8 = 128
}

/// Returns the number of bytes of an element in a list of numbers, or nil for another type byte.
@inline(__always)
func elementBytes(_ tag: UInt8) -> Int? {
  switch tag {
  case Tag.bytes: 1
  case Tag.int32s, Tag.float32s: 4
  case Tag.int64s, Tag.float64s: 8
  default: nil
  }
}

/// The first byte of a size or a count.
enum SizeByte {
  /// The largest size of one byte.
  static let oneMax = 253
  static let two: UInt8 = 254
  static let four: UInt8 = 255
}

/// The first byte of a reply.
enum Envelope {
  static let success: UInt8 = 0
  static let error: UInt8 = 1
}
