// SPDX-License-Identifier: MIT OR Apache-2.0
// Converts values from and to the notation of conformance/README.md, which is itself JSON.

import ClearwayChannel

/// The integers that JSON carries exactly.
private let exact: ClosedRange<Int64> = -((1 << 53) - 1)...((1 << 53) - 1)

/// The number of zeros that a notation may request.
private let zerosMax: Int64 = 1 << 26

/// Returns the value that a notation describes. With `plain`, integers beyond 2^53 become floats.
func readNotation(_ notation: Value, _ plain: Bool) throws -> Value {
  switch notation {
  case .list(let list): return .list(try list.map { try readNotation($0, plain) })
  case .map(let map): return try readForm(map, plain)
  default: return notation
  }
}

private func readForm(_ map: ValueMap, _ plain: Bool) throws -> Value {
  let only = map.count == 1 ? map.entries.first : nil
  let parts = only?.value ?? .null
  switch only?.key.stringValue {
  case "int64", "bigint":
    let number = try integer(parts)
    if !plain { return number.int64.map { .int($0) } ?? .big(number) }
    if let small = number.int64, exact.contains(small) { return .int(small) }
    return .double(number.doubleValue)
  case "float64": return .double(try float(parts))
  case "uint8len":
    guard let count = parts.intValue, (0...zerosMax).contains(count) else { throw InvalidCase() }
    return .bytes([UInt8](repeating: 0, count: Int(count)))
  case "uint8": return .bytes(try elements(parts).map { UInt8(truncatingIfNeeded: try whole($0)) })
  case "int32":
    return .int32s(try elements(parts).map { Int32(truncatingIfNeeded: try whole($0)) })
  case "float32": return .floats(try elements(parts).map { Float(try float($0)) })
  case "float64list": return .doubles(try elements(parts).map(float))
  case "int64list":
    return .int64s(
      try elements(parts).map { part in
        guard let number = try integer(part).int64 else { throw InvalidCase() }
        return number
      })
  case "map":
    var made = ValueMap()
    for each in try elements(parts) {
      let entry = try elements(each)
      if entry.count != 2 { throw InvalidCase() }
      made[try readNotation(entry[0], plain)] = .some(try readNotation(entry[1], plain))
    }
    return .map(made)
  default:
    var made = ValueMap()
    for entry in map { made[entry.key] = .some(try readNotation(entry.value, plain)) }
    return .map(made)
  }
}

private func elements(_ value: Value) throws -> [Value] {
  guard let list = value.listValue else { throw InvalidCase() }
  return list
}

private func whole(_ value: Value) throws -> Int64 {
  guard let number = Int64(exactly: try float(value)) else { throw InvalidCase() }
  return number
}

private func float(_ value: Value) throws -> Double {
  switch value {
  case .int(let number): return Double(number)
  case .double(let number): return number
  case .string("NaN"): return .nan
  case .string("Infinity"): return .infinity
  case .string("-Infinity"): return -.infinity
  case .string("-0"): return -0.0
  default: throw InvalidCase()
  }
}

private func integer(_ value: Value) throws -> BigInteger {
  var hex: String
  switch value {
  case .int(let number): hex = String(number, radix: 16)
  case .string(let text):
    let minus = text.hasPrefix("-")
    let digits = text.dropFirst(minus ? 1 : 0)
    if digits.hasPrefix("0x") {
      hex = String(digits.dropFirst(2))
    } else if let number = Int64(digits) {
      hex = String(number, radix: 16)
    } else {
      hex = try hexOfDecimal(digits)
    }
    if minus { hex = "-" + hex }
  default: throw InvalidCase()
  }
  guard let number = BigInteger(hex: hex) else { throw InvalidCase() }
  return number
}

/// Converts a decimal of any size to hex, digit by digit.
private func hexOfDecimal(_ digits: Substring) throws -> String {
  var limbs: [UInt64] = [0]
  for byte in digits.utf8 {
    guard (0x30...0x39).contains(byte) else { throw InvalidCase() }
    var carry = UInt64(byte - 0x30)
    for at in limbs.indices {
      let next = limbs[at] * 10 + carry
      limbs[at] = next & 0xffff_ffff
      carry = next >> 32
    }
    if carry > 0 { limbs.append(carry) }
  }
  if digits.isEmpty { throw InvalidCase() }
  return limbs.reversed().map { limb in
    let text = String(limb, radix: 16)
    return String(repeating: "0", count: 8 - text.count) + text
  }.joined()
}

/// Returns the notation of a value.
func writeNotation(_ value: Value) -> Value {
  switch value {
  case .int(let number): exact.contains(number) ? value : ["int64": .string(String(number))]
  case .big(let number): ["bigint": .string(String(describing: number))]
  case .double(let number): ["float64": writeFloat(number)]
  case .bytes(let list): ["uint8": .list(list.map { .int(Int64($0)) })]
  case .int32s(let list): ["int32": .list(list.map { .int(Int64($0)) })]
  case .int64s(let list): ["int64list": .list(list.map { .string(String($0)) })]
  case .floats(let list): ["float32": .list(list.map { writeFloat(Double($0)) })]
  case .doubles(let list): ["float64list": .list(list.map(writeFloat))]
  case .list(let list): .list(list.map(writeNotation))
  case .map(let map):
    ["map": .list(map.map { .list([writeNotation($0.key), writeNotation($0.value)]) })]
  default: value
  }
}

private func writeFloat(_ number: Double) -> Value {
  if number.isNaN { return "NaN" }
  if number.isInfinite { return number < 0 ? "-Infinity" : "Infinity" }
  return number == 0 && number.sign == .minus ? "-0" : .double(number)
}
