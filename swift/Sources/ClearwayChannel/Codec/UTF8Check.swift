// SPDX-License-Identifier: MIT OR Apache-2.0

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
