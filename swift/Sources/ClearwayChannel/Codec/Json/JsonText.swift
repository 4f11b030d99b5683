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
      switch peek() {
      case UInt8(ascii: "\""):
        at += 1
        return text
      case UInt8(ascii: "\\"):
        text.unicodeScalars.append(try escape())
        text += try plain()
      default: throw malformed()
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
      if validUntil(base, from, at) < at { throw malformed() }
    }
    return String(
      decoding: UnsafeRawBufferPointer(start: base + from, count: at - from), as: UTF8.self)
  }

  /// Reads an escape. The next byte must be the backslash.
  private mutating func escape() throws(ClearwayError) -> Unicode.Scalar {
    at += 1
    let simple: Unicode.Scalar
    switch peek() {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): simple = Unicode.Scalar(peek())
    case UInt8(ascii: "b"): simple = "\u{8}"
    case UInt8(ascii: "f"): simple = "\u{c}"
    case UInt8(ascii: "n"): simple = "\n"
    case UInt8(ascii: "r"): simple = "\r"
    case UInt8(ascii: "t"): simple = "\t"
    case UInt8(ascii: "u"): return try unicode()
    default: throw malformed()
    }
    at += 1
    return simple
  }

  /// Reads `uXXXX`, or this and the next escape if they are a surrogate pair.
  private mutating func unicode() throws(ClearwayError) -> Unicode.Scalar {
    at += 1
    let high = try unit()
    if let scalar = Unicode.Scalar(high) { return scalar }
    for expected in [UInt8(ascii: "\\"), UInt8(ascii: "u")] {
      if peek() != expected { throw malformed() }
      at += 1
    }
    let low = try unit()
    // UTF-8 cannot encode half of a pair.
    guard high < 0xdc00, (0xdc00...0xdfff).contains(low),
      let scalar = Unicode.Scalar(0x10000 + (high - 0xd800) << 10 + (low - 0xdc00))
    else { throw malformed() }
    return scalar
  }

  private mutating func unit() throws(ClearwayError) -> UInt32 {
    var unit: UInt32 = 0
    for _ in 0..<4 {
      guard let digit = hexValue(peek()) else { throw malformed() }
      unit = unit << 4 | UInt32(digit)
      at += 1
    }
    return unit
  }
}
