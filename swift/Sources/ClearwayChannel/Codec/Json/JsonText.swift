// SPDX-License-Identifier: MIT OR Apache-2.0

extension JsonReader {
  /// Reads a text in quotes. The next byte must be the opening quote.
  mutating func text() throws(ClearwayError) -> String {
    at += 1
    let first = try plain()
    if peek() == UInt8(ascii: "\""), at < end {
      at += 1
      return first
    }
    var text = first
    while true {
      if at >= end { throw refusal(.truncated, at) }
      switch peek() {
      case UInt8(ascii: "\""):
        at += 1
        return text
      case UInt8(ascii: "\\"):
        text.unicodeScalars.append(try escape())
        text += try plain()
      default: throw unexpected()
      }
    }
  }

  /// Reads bytes up to a quote, a backslash or a control character.
  @inline(__always)
  private mutating func plain() throws(ClearwayError) -> String {
    let from = at
    var all: UInt8 = 0
    while at < end {
      let byte = base.load(fromByteOffset: at, as: UInt8.self)
      if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { break }
      all |= byte
      at += 1
    }
    if all >= 0x80 {
      let wrong = validUntil(base, from, at)
      if wrong < at { throw refusal(.badUTF8, wrong) }
    }
    return String(
      decoding: UnsafeRawBufferPointer(start: base + from, count: at - from), as: UTF8.self)
  }

  /// Reads an escape. The next byte must be the backslash.
  private mutating func escape() throws(ClearwayError) -> Unicode.Scalar {
    let from = at
    at += 1
    let simple: Unicode.Scalar
    switch peek() {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): simple = Unicode.Scalar(peek())
    case UInt8(ascii: "b"): simple = "\u{8}"
    case UInt8(ascii: "f"): simple = "\u{c}"
    case UInt8(ascii: "n"): simple = "\n"
    case UInt8(ascii: "r"): simple = "\r"
    case UInt8(ascii: "t"): simple = "\t"
    case UInt8(ascii: "u"): return try unicode(from)
    default: throw unexpected()
    }
    at += 1
    return simple
  }

  /// Reads `\uXXXX`, or the two escapes of a surrogate pair.
  private mutating func unicode(_ from: Int) throws(ClearwayError) -> Unicode.Scalar {
    at = from + 2
    let high = try unit()
    guard (0xd800...0xdbff).contains(high) else {
      // A scalar is missing only for the lower half of a pair.
      guard let scalar = Unicode.Scalar(high) else { throw refusal(.badUTF8, from) }
      return scalar
    }
    // The escape of a lower half must follow. If the text ends too soon, the error is `truncated`.
    for index in 0..<4 {
      if from + 6 + index >= end { throw refusal(.truncated, end) }
      let byte = base.load(fromByteOffset: from + 6 + index, as: UInt8.self)
      let fits: Bool
      switch index {
      case 0: fits = byte == UInt8(ascii: "\\")
      case 1: fits = byte == UInt8(ascii: "u")
      case 2: fits = byte | 0x20 == UInt8(ascii: "d")
      default: fits = (UInt8(ascii: "c")...UInt8(ascii: "f")).contains(byte | 0x20)
      }
      if !fits { throw refusal(.badUTF8, from) }
    }
    at = from + 8
    let low: UInt32
    do throws(ClearwayError) {
      low = try unit()
    } catch {
      throw error.code == .malformed ? refusal(.badUTF8, from) : error
    }
    guard let scalar = Unicode.Scalar(0x10000 + (high - 0xd800) << 10 + (low - 0xdc00)) else {
      throw refusal(.badUTF8, from)
    }
    return scalar
  }

  private mutating func unit() throws(ClearwayError) -> UInt32 {
    var unit: UInt32 = 0
    for _ in 0..<4 {
      guard let digit = hexValue(peek()) else { throw unexpected() }
      unit = unit << 4 | UInt32(digit)
      at += 1
    }
    return unit
  }
}
