// SPDX-License-Identifier: MIT OR Apache-2.0
// Answers the cases of conformance/README.md: one JSON case per line on stdin, one JSON answer per
// line on stdout. With the argument `plugin`, runs the steps of test/plugin-hosts/README.md.

import ClearwayChannel
import Dispatch

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

@main
struct Main {
  static func main() {
    guard CommandLine.arguments.dropFirst().first == "plugin" else { return answerCases() }
    Task.detached {
      await PluginSteps.run()
      exit(0)
    }
    dispatchMain()
  }

  private static func answerCases() {
    var pending: [UInt8] = []
    var answers: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(0, &piece, piece.count)
      if count <= 0 { break }
      var from = 0
      for at in 0..<count where piece[at] == UInt8(ascii: "\n") {
        pending += piece[from..<at]
        answers += answer(pending)
        answers.append(UInt8(ascii: "\n"))
        pending.removeAll(keepingCapacity: true)
        from = at + 1
      }
      pending += piece[from..<count]
      writeAll(answers)
      answers.removeAll(keepingCapacity: true)
    }
    if !pending.isEmpty { writeAll(answer(pending) + [UInt8(ascii: "\n")]) }
  }

  static func writeAll(_ bytes: [UInt8]) {
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes { write(1, $0.baseAddress! + done, bytes.count - done) }
      if count <= 0 { exit(1) }
      done += count
    }
  }
}

/// The codec for the cases. A case may be nested deeper than a message may be.
private let cases: JSONMessageCodec = {
  guard let limits = try? CodecLimits(depthMax: CodecLimits.deepest) else {
    preconditionFailure("the deepest limit is not a limit")
  }
  return JSONMessageCodec(limits: limits)
}()

/// A case that cannot be answered, such as one with an odd number of hex digits.
struct InvalidCase: Error {}

/// Returns the answer to a line, without a line break.
func answer(_ line: [UInt8]) -> [UInt8] {
  let asked = (try? cases.decode(line)) ?? .null
  let said: (Value, Value)
  do {
    switch asked["op"]?.stringValue {
    case "encode": said = ("hex", .string(hex(try encode(asked))))
    case "decode": said = ("value", try decode(asked))
    default: throw InvalidCase()
    }
  } catch let error as ClearwayError {
    said = (
      "error",
      ["code": .string(error.code.rawValue), "offset": .int(Int64(error.offset ?? -1))]
    )
  } catch {
    said = ("error", ["code": "invalid-argument", "offset": 0])
  }
  let answer: Value = .map(["id": asked["id"] ?? .null, said.0: said.1])
  return (try? cases.encode(answer)) ?? []
}

private func methodCodec(_ name: String) -> (any MethodCodec)? {
  switch name {
  case "standard-method": StandardMethodCodec()
  case "json-method": JSONMethodCodec()
  default: nil
  }
}

private func encode(_ asked: Value) throws -> [UInt8] {
  let codec = try text(asked["codec"])
  guard let notation = asked["value"] else { throw InvalidCase() }
  let plain = codec.hasPrefix("json")
  if let methods = methodCodec(codec) {
    if let call = notation["call"] {
      return try methods.encode(
        call: MethodCall(
          text(call["method"]), readNotation(call["args"] ?? .null, plain)))
    }
    guard let error = notation["error"] else {
      guard notation.mapValue != nil else { throw InvalidCase() }
      return try methods.encode(
        reply: .success(readNotation(notation["success"] ?? .null, plain)))
    }
    return try methods.encode(
      reply: .failure(
        code: text(error["code"]), message: textOrNull(error["message"]),
        details: readNotation(error["details"] ?? .null, plain),
        stack: error["stacktrace"].map { .some(try textOrNull($0)) } ?? nil))
  }
  let value = try readNotation(notation, plain)
  switch (codec, value) {
  // A vector is a value and not a message, so null has its type byte.
  case ("standard", _): return try StandardMessageCodec().ofValues().encode(value)
  case ("json", _): return try JSONMessageCodec().encode(value)
  case ("string", .string(let text)): return StringCodec().encode(text)
  case ("binary", .bytes(let bytes)): return BinaryCodec().encode(bytes)
  case ("string", .null), ("binary", .null): return []
  default: throw InvalidCase()
  }
}

private func decode(_ asked: Value) throws -> Value {
  let codec = try text(asked["codec"])
  let bytes = try unhex(text(asked["hex"]))
  if let methods = methodCodec(codec) {
    if asked["as"]?.stringValue == "call" {
      let call = try methods.decodeCall(bytes)
      return ["call": ["method": .string(call.method), "args": writeNotation(call.arguments)]]
    }
    switch try methods.decodeReply(bytes) {
    // A channel takes no bytes as "no reply at all". A case expects an envelope.
    case .none: throw ClearwayError(.truncated, "no bytes", offset: 0)
    case .success(let value): return ["success": writeNotation(value)]
    case .failure(let code, let message, let details, let stack):
      var parts: ValueMap = [
        "code": .string(code), "message": message.map { .string($0) } ?? .null,
        "details": writeNotation(details),
      ]
      if let stack { parts["stacktrace"] = .some(stack.map { .string($0) } ?? .null) }
      return ["error": .map(parts)]
    }
  }
  switch codec {
  case "standard": return writeNotation(try StandardMessageCodec().ofValues().decode(bytes))
  case "json": return writeNotation(try JSONMessageCodec().decode(bytes))
  case "string": return .string(try StringCodec().decode(bytes))
  case "binary": return writeNotation(.bytes(try BinaryCodec().decode(bytes)))
  default: throw InvalidCase()
  }
}

func text(_ value: Value?) throws -> String {
  guard let text = value?.stringValue else { throw InvalidCase() }
  return text
}

private func textOrNull(_ value: Value?) throws -> String? {
  if value?.isNull ?? true { return nil }
  return try text(value)
}

private let digits = Array("0123456789abcdef".utf8)

func hex(_ bytes: [UInt8]) -> String {
  String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
}

func unhex(_ text: String) throws -> [UInt8] {
  let digits = try text.utf8.map { byte in
    guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { throw InvalidCase() }
    return UInt8(digit)
  }
  if digits.count % 2 != 0 { throw InvalidCase() }
  return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

// Converts values from and to the notation of conformance/README.md, which is itself JSON.

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
