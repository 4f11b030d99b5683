// SPDX-License-Identifier: MIT OR Apache-2.0

/// An integer of any size, as the standard codec writes it: a sign and hex digits.
///
/// It is for carrying such integers, and has no arithmetic.
public struct BigInteger: Sendable, Hashable {
  /// Whether the integer is below zero.
  public let isNegative: Bool
  /// The digits of the magnitude, in lower case, without leading zeros; "0" for zero.
  public let hexDigits: String

  /// The largest number of digits that a codec accepts.
  static let digitsMax = 1 << 20

  /// Makes an integer from hex digits with an optional minus. Returns nil for another text.
  public init?(hex: some StringProtocol) {
    let minus = hex.utf8.first == UInt8(ascii: "-")
    let digits = hex.utf8.dropFirst(minus ? 1 : 0)
    guard !digits.isEmpty, digits.allSatisfy({ hexValue($0) != nil }) else { return nil }
    self.init(isNegative: minus, validDigits: digits.lazy.map { $0 })
  }

  init(isNegative: Bool, validDigits: some Sequence<UInt8>) {
    let kept = Array(validDigits.drop { $0 == UInt8(ascii: "0") })
    let lower = kept.map { $0 < 0x60 && $0 > 0x39 ? $0 | 0x20 : $0 }
    hexDigits = lower.isEmpty ? "0" : String(decoding: lower, as: UTF8.self)
    self.isNegative = isNegative && !lower.isEmpty
  }

  /// Returns the integer of 64 bits, or nil if it has more.
  public var int64: Int64? {
    Int64((isNegative ? "-" : "") + hexDigits, radix: 16)
  }

  /// Returns the nearest float. A float halfway between two is the one that ends in an even bit.
  public var doubleValue: Double {
    let digits = Array(hexDigits.utf8)
    // 15 digits and one that is odd if any later digit is not zero: 60 bits, and the float has 53.
    var head: UInt64 = 0
    for digit in digits.prefix(15) { head = head << 4 | UInt64(hexValue(digit) ?? 0) }
    let rest = digits.dropFirst(15)
    let sticky = rest.contains { $0 != UInt8(ascii: "0") } ? 1 : 0 as UInt64
    if rest.isEmpty { return isNegative ? -Double(head) : Double(head) }
    let value = scaled(Double(head << 4 | sticky), by: 4 * (rest.count - 1))
    return isNegative ? -value : value
  }

  private func scaled(_ value: Double, by bits: Int) -> Double {
    bits > 1100 ? .infinity : value * Double(sign: .plus, exponent: min(bits, 600), significand: 1)
      * Double(sign: .plus, exponent: max(0, bits - 600), significand: 1)
  }
}

/// Returns the value of a hex digit in either case, or nil.
@inline(__always)
func hexValue(_ byte: UInt8) -> UInt8? {
  switch byte {
  case 0x30...0x39: return byte - 0x30
  case 0x41...0x46: return byte - 0x41 + 10
  case 0x61...0x66: return byte - 0x61 + 10
  default: return nil
  }
}

extension BigInteger: CustomStringConvertible {
  /// The hex digits, with `0x`, and a minus before it.
  public var description: String { "\(isNegative ? "-" : "")0x\(hexDigits)" }
}
