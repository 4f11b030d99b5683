// SPDX-License-Identifier: MIT OR Apache-2.0

/// Memory that grows while a message is written. Padding counts from its first byte.
struct ByteWriter: ~Copyable {
  private var base: UnsafeMutableRawPointer
  private var capacity: Int
  private(set) var count = 0

  init(capacity: Int = 512) {
    self.capacity = capacity
    base = .allocate(byteCount: capacity, alignment: 16)
  }

  deinit { base.deallocate() }

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
  mutating func reserve(_ more: Int) {
    if count + more > capacity { grow(more) }
  }

  @inline(never)
  private mutating func grow(_ more: Int) {
    let wanted = max(capacity * 2, count + more)
    let larger = UnsafeMutableRawPointer.allocate(byteCount: wanted, alignment: 16)
    larger.copyMemory(from: base, byteCount: count)
    base.deallocate()
    base = larger
    capacity = wanted
  }

  @inline(__always)
  mutating func byte(_ value: UInt8) {
    reserve(1)
    base.storeBytes(of: value, toByteOffset: count, as: UInt8.self)
    count += 1
  }

  @inline(__always)
  mutating func number<N: BitwiseCopyable>(_ value: N) {
    reserve(MemoryLayout<N>.size)
    base.storeBytes(of: value, toByteOffset: count, as: N.self)
    count += MemoryLayout<N>.size
  }

  /// Writes a type byte and a number.
  @inline(__always)
  mutating func tagged<N: BitwiseCopyable>(_ tag: UInt8, _ value: N) {
    reserve(1 + MemoryLayout<N>.size)
    base.storeBytes(of: tag, toByteOffset: count, as: UInt8.self)
    base.storeBytes(of: value, toByteOffset: count + 1, as: N.self)
    count += 1 + MemoryLayout<N>.size
  }

  @inline(__always)
  mutating func pad(_ alignment: Int) {
    let padding = -count & (alignment - 1)
    if padding == 0 { return }
    reserve(padding)
    (base + count).initializeMemory(as: UInt8.self, repeating: 0, count: padding)
    count += padding
  }

  @inline(__always)
  mutating func raw(_ bytes: UnsafeRawBufferPointer) {
    guard let from = bytes.baseAddress else { return }
    reserve(bytes.count)
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
    if size <= SizeByte.oneMax { byte(UInt8(truncatingIfNeeded: size)) } else { try long(size) }
  }

  private mutating func long(_ size: Int) throws(ClearwayError) {
    if size <= 0xffff {
      tagged(SizeByte.two, UInt16(size))
    } else if size <= 0xffff_ffff {
      tagged(SizeByte.four, UInt32(size))
    } else {
      throw ClearwayError(.tooLarge, "a size of \(size); the format has 32 bits", offset: count)
    }
  }

  /// Writes a text's bytes.
  @inline(__always)
  mutating func text(_ text: String) {
    var text = text
    text.withUTF8 { raw(UnsafeRawBufferPointer($0)) }
  }
}
