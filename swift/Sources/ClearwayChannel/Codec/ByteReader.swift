// SPDX-License-Identifier: MIT OR Apache-2.0

/// Reads the parts of a message from a current position.
///
/// The memory must outlive the reader. Nothing is allocated for a size that exceeds the rest of the
/// message.
struct ByteReader {
  let base: UnsafeRawPointer
  let end: Int
  /// The offset of the next byte, from the first byte of the message.
  var at = 0

  init(_ message: UnsafeRawBufferPointer) {
    base = message.baseAddress ?? UnsafeRawPointer(bitPattern: 16)!
    end = message.count
  }

  var left: Int { end - at }

  @inline(never)
  func truncated(_ from: Int) -> ClearwayError {
    ClearwayError(.truncated, "the message ends too soon", offset: from)
  }

  /// Throws `truncated` unless `count` bytes remain. The error has the offset `from`.
  @inline(__always)
  func need(_ count: Int, _ from: Int) throws(ClearwayError) {
    if count > end - at { throw truncated(from) }
  }

  @inline(__always)
  mutating func byte() throws(ClearwayError) -> UInt8 {
    if at >= end { throw truncated(at) }
    let value = base.load(fromByteOffset: at, as: UInt8.self)
    at += 1
    return value
  }

  @inline(__always)
  mutating func number<N: BitwiseCopyable>(_: N.Type) throws(ClearwayError) -> N {
    try need(MemoryLayout<N>.size, at)
    let value = base.loadUnaligned(fromByteOffset: at, as: N.self)
    at += MemoryLayout<N>.size
    return value
  }

  @inline(__always)
  mutating func pad(_ alignment: Int, _ from: Int) throws(ClearwayError) {
    let padding = -at & (alignment - 1)
    try need(padding, from)
    at += padding
  }

  @inline(__always)
  mutating func float64() throws(ClearwayError) -> Double {
    let from = at
    try pad(8, from)
    try need(8, from)
    let value = base.loadUnaligned(fromByteOffset: at, as: Double.self)
    at += 8
    return value
  }

  /// Reads a size or a count.
  @inline(__always)
  mutating func size() throws(ClearwayError) -> Int {
    let from = at
    let first = try byte()
    if first <= SizeByte.oneMax { return Int(first) }
    let width = first == SizeByte.two ? 2 : 4
    try need(width, from)
    let value =
      width == 2
      ? Int(base.loadUnaligned(fromByteOffset: at, as: UInt16.self))
      : Int(base.loadUnaligned(fromByteOffset: at, as: UInt32.self))
    at += width
    return value
  }

  /// Reads a size. Throws `truncated` unless the message has that number of bytes left.
  @inline(__always)
  mutating func sized() throws(ClearwayError) -> Int {
    let from = at
    let count = try size()
    try need(count, from)
    return count
  }

  /// Reads a text with its size. Throws `bad-utf8` with the offset of the first ill-formed sequence.
  @inline(__always)
  mutating func text() throws(ClearwayError) -> String {
    let size = try sized()
    let from = at
    at += size
    return try readUTF8(base, from, at)
  }

  @inline(__always)
  mutating func skip(_ count: Int) throws(ClearwayError) {
    try need(count, at)
    at += count
  }

  /// Skips a text with its size. Throws as ``text()`` does. Returns the size.
  @inline(__always)
  mutating func skipText() throws(ClearwayError) -> Int {
    let size = try sized()
    let from = at
    at += size
    try checkUTF8(base, from, at)
    return size
  }

  func finish() throws(ClearwayError) {
    if at < end {
      throw ClearwayError(.trailingBytes, "\(left) bytes follow after the value", offset: at)
    }
  }
}
