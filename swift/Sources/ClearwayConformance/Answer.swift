// SPDX-License-Identifier: MIT OR Apache-2.0

import ClearwayChannel

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
