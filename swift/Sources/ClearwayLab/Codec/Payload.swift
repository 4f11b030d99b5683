// SPDX-License-Identifier: MIT OR Apache-2.0
import ClearwayChannel

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
