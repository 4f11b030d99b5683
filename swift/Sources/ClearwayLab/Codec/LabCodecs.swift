// SPDX-License-Identifier: MIT OR Apache-2.0
import ClearwayChannel
import Foundation

/// A codec that is measured.
///
/// One thread uses it.
struct LabCodec {
  /// Encodes the value, and returns the bytes.
  let encode: () throws -> [UInt8]

  /// Decodes the bytes, and drops the result.
  let decode: ([UInt8]) throws -> Void

  /// Whether the bytes decode to the value.
  let isEqual: ([UInt8]) throws -> Bool
}

enum LabCodecs {
  static let names = [
    "json-encoder", "json-serialization", "clearway", "clearway-codable", "clearway-json",
  ]

  static func named(_ name: String, value: Value, valueName: String) throws -> LabCodec {
    switch name {
    case "json-encoder", "clearway-codable":
      guard valueName == "2 KB" else {
        throw LabError("\(name) has a type for the value of 2 KB only: value=\(valueName)")
      }
      return name == "json-encoder" ? typed : clearwayTyped
    case "json-serialization": return serialization(value)
    case "clearway": return clearway(StandardMessageCodec(), value)
    case "clearway-json": return clearway(JSONMessageCodec(), asJSON(value))
    default:
      throw LabError("no such mechanism: mechanism=\(name) (\(names.joined(separator: ", ")))")
    }
  }

  private static func clearway(_ codec: some MessageCodec<Value>, _ value: Value) -> LabCodec {
    LabCodec(
      encode: { try codec.encode(value) },
      decode: { keep(try codec.decode($0)) },
      isEqual: {
        plain(try codec.decode($0), bytesAsText: false) == plain(value, bytesAsText: false)
      })
  }

  private static func serialization(_ value: Value) -> LabCodec {
    let object = foundation(value)
    func parsed(_ bytes: [UInt8]) throws -> Any {
      try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
    }
    return LabCodec(
      encode: {
        [UInt8](try JSONSerialization.data(withJSONObject: object, options: .fragmentsAllowed))
      },
      decode: { keep(try parsed($0)) },
      isEqual: { bytes in
        _ = try parsed(bytes)
        return try JSON(parsing: String(decoding: bytes, as: UTF8.self))
          == plain(value, bytesAsText: true)
      })
  }

  private static var typed: LabCodec {
    let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
    let message = MixedMessage(bytes: Data(Payload.bytes))
    return LabCodec(
      encode: { [UInt8](try encoder.encode(message)) },
      decode: { keep(try decoder.decode(MixedMessage<Data>.self, from: Data($0))) },
      isEqual: { try decoder.decode(MixedMessage<Data>.self, from: Data($0)) == message })
  }

  private static var clearwayTyped: LabCodec {
    let message = MixedMessage(bytes: Payload.bytes)
    let codec = StandardMessageCodec().of(MixedMessage<[UInt8]>.self)
    return LabCodec(
      encode: { try codec.encode(message) },
      decode: { keep(try codec.decode($0)) },
      isEqual: { try codec.decode($0) == message })
  }
}

/// The value of 2 KB as an app would declare it. JSONEncoder writes `Data` as base64 text.
private struct MixedMessage<Bytes: Codable & Equatable & Sendable>: Codable, Equatable, Sendable {
  var id = 123_456
  var name = "Zoë Müller"
  var active = true
  var score = 98.6
  var none: Int?
  var big: Int64 = 1 << 40
  var tags = Payload.tags
  var bytes: Bytes
  var ints = Payload.ints
  var floats = Payload.floats
  var nested = MixedNested()
  var rows = (0..<10).map {
    MixedRow(id: $0, title: "Row \($0)", price: 9.99 + Double($0), stock: $0.isMultiple(of: 2))
  }
  var text = Payload.text
}

private struct MixedNested: Codable, Equatable {
  struct Inner: Codable, Equatable {
    var c = "text of some length"
    var d = -1
    var e: Int64 = 1 << 31
  }

  // The list of 1, 2, 3 and a list of lists, which no type of Swift has without an enum.
  var a = [1, 2, 3, 4, 5, 6]
  var b = Inner()
}

private struct MixedRow: Codable, Equatable {
  let id: Int
  let title: String
  let price: Double
  let stock: Bool
}

func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

/// JSON has no bytes and no lists of numbers: bytes travel as base64 text, numbers in plain
/// lists.
private func asJSON(_ value: Value) -> Value {
  switch value {
  case .bytes(let bytes): return .string(base64(bytes))
  case .int32s(let list): return .list(list.map { .int(Int64($0)) })
  case .doubles(let list): return .list(list.map { .double($0) })
  case .list(let list): return .list(list.map(asJSON))
  case .map(let map):
    var copy = ValueMap()
    for entry in map.entries { copy[entry.key] = asJSON(entry.value) }
    return .map(copy)
  default: return value
  }
}

/// Returns the objects that JSONSerialization writes.
func foundation(_ value: Value) -> Any {
  foundation(plain(value, bytesAsText: true))
}

private func foundation(_ json: JSON) -> Any {
  switch json {
  case .null: return NSNull()
  case .bool(let value): return value
  case .number(let value): return Int64(exactly: value).map { $0 as Any } ?? value
  case .string(let text): return text
  case .array(let items): return items.map(foundation) as [Any]
  case .object(let members): return members.mapValues(foundation) as [String: Any]
  }
}

/// Keeps the optimiser from leaving a result out.
@inline(never)
func keep<T>(_ value: T) {
  withExtendedLifetime(value) {}
}

/// The values that the lab's scenarios for channels encode.
///
/// They are the same on every host (ts/clearway-lab/src/channel/payload.ts).
enum Payload {
  static let names = ["null", "int", "string", "list", "map", "2 KB", "1000 items"]

  static func named(_ name: String) throws -> Value {
    switch name {
    case "null": return .null
    case "int": return 7
    case "string": return "hello world, how are you"
    case "list": return [1, "two", 3.5, true, nil]
    case "map": return ["a": 1, "b": "x", "c": [true]]
    case "2 KB": return mixed
    case "1000 items": return items
    default:
      throw LabError("no such value: value=\(name) (\(names.joined(separator: ", ")))")
    }
  }

  static let tags = ["alpha", "beta", "gamma", "delta", "epsilon"]
  static let ints = (0..<64).map { Int32($0 * 1000) }
  static let floats = (0..<32).map { Double($0) / 3 }
  static let bytes = (0..<512).map { UInt8(truncatingIfNeeded: $0) }
  static let text =
    "A clearway is a stretch of road on which nobody may stop. An app's main thread should be one."

  /// A value of about 2 KB with most types of the standard codec.
  private static var mixed: Value {
    [
      "id": 123_456, "name": "Zoë Müller", "active": true, "score": 98.6, "none": nil,
      "big": .int(1 << 40), "tags": .list(tags.map { .string($0) }), "bytes": .bytes(bytes),
      "ints": .int32s(ints), "floats": .doubles(floats),
      "nested": [
        "a": [1, 2, 3, [4, 5, [6]]],
        "b": ["c": "text of some length", "d": -1, "e": .int(1 << 31)],
      ],
      "rows": .list(
        (0..<10).map { row in
          [
            "id": .int(Int64(row)), "title": .string("Row \(row)"),
            "price": .double(9.99 + Double(row)), "stock": .bool(row.isMultiple(of: 2)),
          ]
        }),
      "text": .string(text),
    ]
  }

  private static var items: Value {
    let kinds: [Value] = [
      1, 0, 1234.0, nil, [1234], ["hello": 1234], "this is a test", true,
      .bytes([UInt8](repeating: 0, count: 64)),
    ]
    return .list((0..<1000).map { kinds[$0 % kinds.count] })
  }
}

/// Returns a value in a form that is equal for all codecs.
///
/// JSON has bytes as base64 text.
func plain(_ value: Value, bytesAsText: Bool) -> JSON {
  switch value {
  case .null: return .null
  case .bool(let value): return .bool(value)
  case .int(let value): return .number(Double(value))
  case .big(let value): return .string("\(value)")
  case .double(let value): return .number(value)
  case .string(let text): return .string(text)
  case .bytes(let bytes):
    if bytesAsText { return .string(base64(bytes)) }
    return .array(bytes.map { .number(Double($0)) })
  case .int32s(let list): return .array(list.map { .number(Double($0)) })
  case .int64s(let list): return .array(list.map { .number(Double($0)) })
  case .floats(let list): return .array(list.map { .number(Double($0)) })
  case .doubles(let list): return .array(list.map { .number($0) })
  case .list(let list): return .array(list.map { plain($0, bytesAsText: bytesAsText) })
  case .map(let map):
    var members: [String: JSON] = [:]
    for entry in map.entries {
      members[entry.key.stringValue ?? "\(entry.key)"] = plain(
        entry.value, bytesAsText: bytesAsText)
    }
    return .object(members)
  case .custom(let own): return .string("\(own.base)")
  }
}

/// Measures one codec with one value: encodes and decodes many times on one thread, and sends
/// nothing.
func measureCodec(_ cell: Cell) throws -> Measured {
  let name = try cell.text("value", among: Payload.names)
  let batches = try cell.int("batches", atLeast: 1)
  let codec = try LabCodecs.named(cell.mechanism, value: Payload.named(name), valueName: name)
  let message = try codec.encode()
  let isEqual = try codec.isEqual(message)
  let encodeUs = try timeUs(batches: batches) { keep(try codec.encode()) }
  let decodeUs = try timeUs(batches: batches) { try codec.decode(message) }
  return Measured(
    values: [
      "encode": Figure(unit: "us", value: encodeUs), "decode": Figure(unit: "us", value: decodeUs),
      "both": Figure(unit: "us", value: encodeUs + decodeUs),
      "messageBytes": Figure(unit: "bytes", value: Double(message.count)),
    ],
    result: .object(["equal": .bool(isEqual)]))
}

/// Minimum duration of a batch, in nanoseconds: two thousand steps of a clock with steps of 50
/// ns.
private let batchNsMin: Int64 = 100_000
private let warmUpNs: Int64 = 100_000_000

/// Returns the time of one call in microseconds: the median of `batches` batches, each long
/// enough for the clock.
private func timeUs(batches: Int, _ call: () throws -> Void) rethrows -> Double {
  func batchNs(_ count: Int) throws -> Int64 {
    let begin = nowNs()
    for _ in 0..<count { try call() }
    return nowNs() - begin
  }
  var count = 1
  let begin = nowNs()
  while nowNs() - begin < warmUpNs {
    if try batchNs(count) < batchNsMin { count *= 2 }
  }
  let times = try (0..<batches).map { _ in try batchNs(count) }.sorted()
  return Double(times[times.count / 2]) / Double(count) / 1000
}
