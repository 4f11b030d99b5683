// SPDX-License-Identifier: MIT OR Apache-2.0

/// Reads a JSON text in one pass.
///
/// It checks syntax, depth, the number of values and UTF-8. Errors do not say where.
struct JsonReader {
  let base: UnsafeRawPointer
  let end: Int
  var at = 0
  private let depthMax: Int
  private let valuesMax: Int
  /// Every opening bracket, comma and colon counts as one value.
  private var values = 0

  init(_ text: UnsafeRawBufferPointer, depthMax: Int, valuesMax: Int) {
    base = text.baseAddress ?? UnsafeRawPointer(bitPattern: 16)!
    end = text.count
    self.depthMax = depthMax
    self.valuesMax = valuesMax
  }

  /// Returns the next byte, or 0 at the end. No JSON text continues with 0.
  @inline(__always)
  func peek() -> UInt8 { at < end ? base.load(fromByteOffset: at, as: UInt8.self) : 0 }

  @inline(never)
  func malformed() -> ClearwayError { ClearwayError(.malformed, "this is no JSON", offset: 0) }

  /// Reads the only value of the text.
  mutating func whole() throws(ClearwayError) -> Value {
    let value = try value(0)
    space()
    if at < end { throw malformed() }
    return value
  }

  @inline(__always)
  private mutating func space() {
    while at < end {
      switch base.load(fromByteOffset: at, as: UInt8.self) {
      case 0x20, 0x09, 0x0a, 0x0d: at += 1
      default: return
      }
    }
  }

  /// Skips white space and returns the next byte without consuming it.
  @inline(__always)
  private mutating func next() throws(ClearwayError) -> UInt8 {
    space()
    if at >= end { throw malformed() }
    return base.load(fromByteOffset: at, as: UInt8.self)
  }

  private mutating func value(_ depth: Int) throws(ClearwayError) -> Value {
    switch try next() {
    case UInt8(ascii: "["):
      try enter(depth)
      return try list(depth + 1)
    case UInt8(ascii: "{"):
      try enter(depth)
      return try map(depth + 1)
    case UInt8(ascii: "\""): return .string(try text())
    case UInt8(ascii: "-"), 0x30...0x39: return try number()
    case UInt8(ascii: "n"): return try word("null", .null)
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    default: throw malformed()
    }
  }

  private mutating func enter(_ depth: Int) throws(ClearwayError) {
    if depth >= depthMax {
      throw ClearwayError(.tooDeep, "values are nested deeper than \(depthMax)", offset: 0)
    }
    try charge()
    at += 1
  }

  @inline(__always)
  private mutating func charge() throws(ClearwayError) {
    values += 1
    if values > valuesMax {
      throw ClearwayError(.tooLarge, "more than \(valuesMax) values", offset: 0)
    }
  }

  private mutating func list(_ inside: Int) throws(ClearwayError) -> Value {
    var list: [Value] = []
    var more = try next() != UInt8(ascii: "]")
    while more {
      list.append(try value(inside))
      more = try goesOn(UInt8(ascii: "]"))
    }
    at += 1
    return .list(list)
  }

  private mutating func map(_ inside: Int) throws(ClearwayError) -> Value {
    var map = ValueMap()
    var more = try next() != UInt8(ascii: "}")
    while more {
      if try next() != UInt8(ascii: "\"") { throw malformed() }
      let key = try text()
      if try next() != UInt8(ascii: ":") { throw malformed() }
      try charge()
      at += 1
      map.putReceived(.string(key), try value(inside))
      more = try goesOn(UInt8(ascii: "}"))
    }
    at += 1
    return .map(map)
  }

  /// Returns true after a comma, which it consumes, and false at the closing bracket.
  @inline(__always)
  private mutating func goesOn(_ close: UInt8) throws(ClearwayError) -> Bool {
    let byte = try next()
    if byte == close { return false }
    if byte != UInt8(ascii: ",") { throw malformed() }
    try charge()
    at += 1
    return true
  }

  private mutating func word(_ word: StaticString, _ value: Value) throws(ClearwayError) -> Value {
    for index in 0..<word.utf8CodeUnitCount {
      if at >= end || peek() != word.utf8Start[index] { throw malformed() }
      at += 1
    }
    return value
  }
}

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
