// SPDX-License-Identifier: MIT OR Apache-2.0

extension ByteWriter {
  /// Writes a value as JSON, in the format of `JSON.stringify`.
  mutating func json(_ value: Value, _ depth: Int, _ depthMax: Int) throws(ClearwayError) {
    switch value {
    case .null: try jsonRaw("null")
    case .bool(let flag): try jsonRaw(flag ? "true" : "false")
    case .int(let number): try jsonInteger(number)
    case .double(let number): try jsonDouble(number)
    case .big(let number): try jsonDouble(number.doubleValue)
    case .string(let string): try jsonText(string)
    case .list(let list):
      try jsonEnter(depth, depthMax)
      try byte(UInt8(ascii: "["))
      var first = true
      for each in list {
        if !first { try byte(UInt8(ascii: ",")) }
        first = false
        try json(each, depth + 1, depthMax)
      }
      try byte(UInt8(ascii: "]"))
    case .map(let map):
      try jsonEnter(depth, depthMax)
      try byte(UInt8(ascii: "{"))
      var first = true
      for entry in map.entries {
        guard case .string(let key) = entry.key else {
          throw ClearwayError(
            .notEncodable, "JSON has no form for a key that is no text", offset: 0)
        }
        if !first { try byte(UInt8(ascii: ",")) }
        first = false
        try jsonText(key)
        try byte(UInt8(ascii: ":"))
        try json(entry.value, depth + 1, depthMax)
      }
      try byte(UInt8(ascii: "}"))
    case .bytes(let list):
      try jsonNumbers(list, depth, depthMax) { (writer, each) throws(ClearwayError) in
        try writer.jsonInteger(Int64(each))
      }
    case .int32s(let list):
      try jsonNumbers(list, depth, depthMax) { (writer, each) throws(ClearwayError) in
        try writer.jsonInteger(Int64(each))
      }
    case .floats(let list):
      try jsonNumbers(list, depth, depthMax) { (writer, each) throws(ClearwayError) in
        try writer.jsonDouble(Double(each))
      }
    case .doubles(let list):
      try jsonNumbers(list, depth, depthMax) { (writer, each) throws(ClearwayError) in
        try writer.jsonDouble(each)
      }
    case .custom(let own):
      throw ClearwayError(
        .notEncodable, "JSON has no form for a custom value: \(type(of: own.base))", offset: 0)
    // In JavaScript, the elements of a 64-bit list are bigints, which JSON cannot express.
    case .int64s(let list):
      if !list.isEmpty {
        throw ClearwayError(.notEncodable, "JSON has no form for a 64-bit list", offset: 0)
      }
      try jsonNumbers(list, depth, depthMax) { _, _ in }
    }
  }

  @inline(__always)
  mutating func jsonRaw(_ text: StaticString) throws(ClearwayError) {
    try raw(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  private func jsonEnter(_ depth: Int, _ depthMax: Int) throws(ClearwayError) {
    if depth >= depthMax {
      throw ClearwayError(.tooDeep, "values are nested deeper than \(depthMax)", offset: count)
    }
  }

  mutating func jsonInteger(_ number: Int64) throws(ClearwayError) {
    if !(-exactMax...exactMax).contains(number) { return try jsonDouble(Double(number)) }
    if (0...9).contains(number) { return try byte(UInt8(0x30 + number)) }
    var rest = number.magnitude
    if number < 0 { try byte(UInt8(ascii: "-")) }
    // 16 digits at most.
    var (high, low, digits): (UInt64, UInt64, Int) = (0, 0, 0)
    repeat {
      let digit = rest % 10 + 0x30
      if digits < 8 { low = low << 8 | digit } else { high = high << 8 | digit }
      rest /= 10
      digits += 1
    } while rest > 0
    try reserve(digits)
    if digits > 8 {
      for _ in 0..<(digits - 8) {
        try byte(UInt8(truncatingIfNeeded: high))
        high >>= 8
      }
    }
    for _ in 0..<min(digits, 8) {
      try byte(UInt8(truncatingIfNeeded: low))
      low >>= 8
    }
  }

  mutating func jsonDouble(_ number: Double) throws(ClearwayError) {
    if let whole = Int64(exactly: number), (-exactMax...exactMax).contains(whole) {
      return try jsonInteger(whole)
    }
    try text(ClearwayChannel.jsonText(number))
  }

  /// Writes a list of numbers as an object with indices as keys, as JavaScript writes a typed array.
  private mutating func jsonNumbers<N>(
    _ list: [N], _ depth: Int, _ depthMax: Int,
    _ put: (inout ByteWriter, N) throws(ClearwayError) -> Void
  ) throws(ClearwayError) {
    try jsonEnter(depth, depthMax)
    try byte(UInt8(ascii: "{"))
    for (index, each) in list.enumerated() {
      if index > 0 { try byte(UInt8(ascii: ",")) }
      try byte(UInt8(ascii: "\""))
      try jsonInteger(Int64(index))
      try byte(UInt8(ascii: "\""))
      try byte(UInt8(ascii: ":"))
      try put(&self, each)
    }
    try byte(UInt8(ascii: "}"))
  }

  mutating func jsonTextOrNull(_ text: String?) throws(ClearwayError) {
    if let text { try jsonText(text) } else { try jsonRaw("null") }
  }

  /// Writes a text in quotes. Uses JSON's short escapes, and `\u00xx` for other control characters.
  mutating func jsonText(_ text: String) throws(ClearwayError) {
    try byte(UInt8(ascii: "\""))
    try within(text) { bytes throws(ClearwayError) in
      try reserve(bytes.count + 1)
      var from = 0
      for at in bytes.indices {
        let each = bytes[at]
        if each >= 0x20, each != UInt8(ascii: "\""), each != UInt8(ascii: "\\") { continue }
        try raw(UnsafeRawBufferPointer(rebasing: bytes[from..<at]))
        try jsonEscape(each)
        from = at + 1
      }
      try raw(UnsafeRawBufferPointer(rebasing: bytes[from...]))
    }
    try byte(UInt8(ascii: "\""))
  }

  private mutating func jsonEscape(_ byte: UInt8) throws(ClearwayError) {
    switch byte {
    case UInt8(ascii: "\""): try jsonRaw("\\\"")
    case UInt8(ascii: "\\"): try jsonRaw("\\\\")
    case 0x08: try jsonRaw("\\b")
    case 0x0c: try jsonRaw("\\f")
    case 0x0a: try jsonRaw("\\n")
    case 0x0d: try jsonRaw("\\r")
    case 0x09: try jsonRaw("\\t")
    default:
      let digits = Array("0123456789abcdef".utf8)
      try jsonRaw("\\u00")
      try self.byte(digits[Int(byte >> 4)])
      try self.byte(digits[Int(byte & 15)])
    }
  }
}

/// The largest integer below which every integer has its own float of 64 bits.
let exactMax: Int64 = (1 << 53) - 1

/// Returns an integer if the number is whole and exact as float, otherwise the float.
@inline(__always)
func jsonValue(_ value: Double) -> Value {
  if let whole = Int64(exactly: value), (-exactMax...exactMax).contains(whole),
    whole != 0 || value.sign == .plus
  {
    return .int(whole)
  }
  return .double(value)
}

extension JsonReader {
  /// Reads the number that begins at the next byte.
  mutating func number() throws(ClearwayError) -> Value {
    let from = at
    let minus = peek() == UInt8(ascii: "-")
    if minus { at += 1 }
    var mantissa: Int64 = 0
    var digits = 0
    // JSON allows no digit after a leading zero. The number ends there, and the caller refuses the
    // digit.
    if peek() == UInt8(ascii: "0") {
      at += 1
    } else {
      digits += try self.digits(&mantissa)
    }
    var fraction = 0
    var isFloat = false
    if peek() == UInt8(ascii: ".") {
      at += 1
      isFloat = true
      fraction = try self.digits(&mantissa)
      digits += fraction
    }
    var isScaled = false
    if peek() | 0x20 == UInt8(ascii: "e") {
      at += 1
      isFloat = true
      isScaled = true
      if peek() == UInt8(ascii: "+") || peek() == UInt8(ascii: "-") { at += 1 }
      var unused: Int64 = 0
      _ = try self.digits(&unused)
    }
    // Up to 15 digits and a power of ten up to 22 are exact floats, so their quotient is rounded once.
    if digits <= 15, !isScaled, fraction <= 22 {
      if !isFloat, mantissa != 0 || !minus { return .int(minus ? -mantissa : mantissa) }
      let value = Double(mantissa) / powersOfTen[fraction]
      return jsonValue(minus ? -value : value)
    }
    let text = String(
      decoding: UnsafeRawBufferPointer(start: base + from, count: at - from), as: UTF8.self)
    return jsonValue(Double(text) ?? 0)
  }

  /// Reads digits. Returns their number.
  @inline(__always)
  private mutating func digits(_ mantissa: inout Int64) throws(ClearwayError) -> Int {
    let from = at
    while true {
      let digit = peek() &- 0x30
      if digit > 9 { break }
      mantissa = mantissa &* 10 &+ Int64(digit)
      at += 1
    }
    if at == from { throw malformed() }
    return at - from
  }
}

private let powersOfTen: [Double] = [
  1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
  1e18, 1e19, 1e20, 1e21, 1e22,
]

/// Returns the text that `JSON.stringify` writes for a number: the fewest digits that read as the
/// same number. A number that is not finite has the text `null`.
func jsonText(_ value: Double) -> String {
  if !value.isFinite { return "null" }
  if value == 0 { return "0" }
  if let whole = Int64(exactly: value), (-exactMax...exactMax).contains(whole) {
    return String(whole)
  }
  // Swift writes the shortest digits, but other exponents than JavaScript.
  var digits: [UInt8] = []
  var point = 0
  var exponent = 0
  var seenPoint = false
  var text = Array(abs(value).description.utf8)[...]
  while let byte = text.popFirst() {
    switch byte {
    case UInt8(ascii: "."): seenPoint = true
    case UInt8(ascii: "e"):
      exponent = Int(String(decoding: text, as: UTF8.self)) ?? 0
      text = []
    default:
      digits.append(byte)
      if !seenPoint { point += 1 }
    }
  }
  point += exponent
  let zeros = digits.prefix { $0 == UInt8(ascii: "0") }.count
  digits.removeFirst(zeros)
  point -= zeros
  while digits.last == UInt8(ascii: "0") { digits.removeLast() }
  return (value < 0 ? "-" : "")
    + placed(String(decoding: digits, as: UTF8.self), digits.count, point)
}

/// Places the point among the digits as JavaScript does.
private func placed(_ digits: String, _ count: Int, _ point: Int) -> String {
  switch point {
  case count...max(count, 21) where point <= 21:
    return digits + String(repeating: "0", count: point - count)
  case 1...21: return "\(digits.prefix(point)).\(digits.dropFirst(point))"
  case -5...0: return "0." + String(repeating: "0", count: -point) + digits
  default:
    let rest = count > 1 ? ".\(digits.dropFirst(1))" : ""
    return "\(digits.prefix(1))\(rest)e\(point - 1 < 0 ? "-" : "+")\(abs(point - 1))"
  }
}
