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
