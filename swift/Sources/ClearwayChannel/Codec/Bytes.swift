// SPDX-License-Identifier: MIT OR Apache-2.0
#if canImport(Glibc)
  @preconcurrency import Glibc
#elseif canImport(Musl)
  @preconcurrency import Musl
#elseif canImport(Darwin)
  @preconcurrency import Darwin
#endif

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

/// Memory that grows while a message is written. Padding counts from its first byte.
///
/// What would exceed `bytesMax` throws `too-large` before it is written: a value of a few bytes in
/// memory, such as a list that names one text ten thousand times, may be a huge message.
struct ByteWriter: ~Copyable {
  private var base: UnsafeMutableRawPointer
  private(set) var capacity: Int
  private(set) var count = 0
  private let bytesMax: Int

  init(capacity: Int = 512, bytesMax: Int = .max) {
    self.capacity = min(capacity, max(bytesMax, 0))
    self.bytesMax = bytesMax
    guard let base = malloc(max(self.capacity, 1)) else { fatalError("no memory for a message") }
    self.base = base
  }

  deinit { free(base) }

  /// Returns a copy of the bytes.
  borrowing func finish() -> [UInt8] {
    let (from, size) = (base, count)
    return [UInt8](unsafeUninitializedCapacity: size) { memory, count in
      if size > 0, let to = memory.baseAddress {
        UnsafeMutableRawPointer(to).copyMemory(from: from, byteCount: size)
      }
      count = size
    }
  }

  @inline(__always)
  mutating func reserve(_ more: Int) throws(ClearwayError) {
    if count + more > capacity { try grow(more) }
  }

  @inline(never)
  private mutating func grow(_ more: Int) throws(ClearwayError) {
    let needed = count + more
    if needed > bytesMax {
      throw .tooLarge(bytesMax)
    }
    // The system moves a large block without a second one beside it.
    let wanted = min(max(capacity * 2, needed), bytesMax)
    guard let larger = realloc(base, wanted) else {
      throw ClearwayError(.outOfMemory, "no memory for a message of \(wanted) bytes", offset: count)
    }
    base = larger
    capacity = wanted
  }

  @inline(__always)
  mutating func byte(_ value: UInt8) throws(ClearwayError) {
    try reserve(1)
    base.storeBytes(of: value, toByteOffset: count, as: UInt8.self)
    count += 1
  }

  @inline(__always)
  mutating func number<N: BitwiseCopyable>(_ value: N) throws(ClearwayError) {
    try reserve(MemoryLayout<N>.size)
    base.storeBytes(of: value, toByteOffset: count, as: N.self)
    count += MemoryLayout<N>.size
  }

  /// Writes a type byte and a number.
  @inline(__always)
  mutating func tagged<N: BitwiseCopyable>(_ tag: UInt8, _ value: N) throws(ClearwayError) {
    try reserve(1 + MemoryLayout<N>.size)
    base.storeBytes(of: tag, toByteOffset: count, as: UInt8.self)
    base.storeBytes(of: value, toByteOffset: count + 1, as: N.self)
    count += 1 + MemoryLayout<N>.size
  }

  @inline(__always)
  mutating func pad(_ alignment: Int) throws(ClearwayError) {
    let padding = -count & (alignment - 1)
    if padding == 0 { return }
    try reserve(padding)
    (base + count).initializeMemory(as: UInt8.self, repeating: 0, count: padding)
    count += padding
  }

  @inline(__always)
  mutating func raw(_ bytes: UnsafeRawBufferPointer) throws(ClearwayError) {
    guard let from = bytes.baseAddress else { return }
    try reserve(bytes.count)
    (base + count).copyMemory(from: from, byteCount: bytes.count)
    count += bytes.count
  }

  /// Overwrites a number that was written before.
  mutating func put<N: BitwiseCopyable>(_ value: N, at offset: Int) {
    base.storeBytes(of: value, toByteOffset: offset, as: N.self)
  }

  /// Drops the bytes from `offset` on.
  mutating func truncate(to offset: Int) { count = min(count, offset) }

  /// Lends the bytes during `body`.
  borrowing func withBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try body(UnsafeRawBufferPointer(start: base, count: count))
  }

  /// Writes a size or a count. Throws `too-large` above 32 bits.
  @inline(__always)
  mutating func size(_ size: Int) throws(ClearwayError) {
    if size <= SizeByte.oneMax { try byte(UInt8(truncatingIfNeeded: size)) } else { try long(size) }
  }

  private mutating func long(_ size: Int) throws(ClearwayError) {
    if size <= 0xffff {
      try tagged(SizeByte.two, UInt16(size))
    } else if size <= 0xffff_ffff {
      try tagged(SizeByte.four, UInt32(size))
    } else {
      throw ClearwayError(.tooLarge, "a size of \(size); the format has 32 bits", offset: count)
    }
  }

  /// Writes a text's bytes.
  @inline(__always)
  mutating func text(_ text: String) throws(ClearwayError) {
    try within(text) { bytes throws(ClearwayError) in try raw(bytes) }
  }
}

extension ClearwayError {
  /// The error of a message that exceeds the limit of its writer.
  static func tooLarge(_ bytesMax: Int) -> ClearwayError {
    ClearwayError(.tooLarge, "a message of more than \(bytesMax) bytes")
  }
}
