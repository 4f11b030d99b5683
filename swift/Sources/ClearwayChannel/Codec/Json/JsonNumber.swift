// SPDX-License-Identifier: MIT OR Apache-2.0

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
