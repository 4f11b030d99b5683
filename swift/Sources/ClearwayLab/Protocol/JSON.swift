// SPDX-License-Identifier: MIT OR Apache-2.0
import Foundation

/// A JSON value of the runner protocol.
enum JSON: Sendable, Equatable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([String: JSON])

  /// Parses one JSON text.
  init(parsing text: String) throws {
    self = try JSONDecoder().decode(JSON.self, from: Data(text.utf8))
  }

  /// Returns the value of a key, or `nil` if this is no object or has no such key.
  subscript(key: String) -> JSON? {
    if case .object(let members) = self { members[key] } else { nil }
  }

  /// The text, or `nil` if this is no string.
  var text: String? {
    if case .string(let text) = self { text } else { nil }
  }

  /// Returns the value as one line of JSON.
  ///
  /// Keys are in alphabetical order.
  func line() -> String {
    var line = ""
    write(to: &line)
    return line
  }

  private func write(to line: inout String) {
    switch self {
    case .null: line += "null"
    case .bool(let value): line += value ? "true" : "false"
    case .number(let value): line += JSON.digits(value)
    case .string(let text): JSON.quote(text, to: &line)
    case .array(let items):
      line += "["
      for (at, item) in items.enumerated() {
        if at > 0 { line += "," }
        item.write(to: &line)
      }
      line += "]"
    case .object(let members):
      line += "{"
      for (at, key) in members.keys.sorted().enumerated() {
        if at > 0 { line += "," }
        JSON.quote(key, to: &line)
        line += ":"
        members[key]?.write(to: &line)
      }
      line += "}"
    }
  }

  /// JSON has no infinity and no NaN: they are written as null, which the lab refuses.
  private static func digits(_ value: Double) -> String {
    guard value.isFinite else { return "null" }
    if let whole = Int64(exactly: value) { return String(whole) }
    return "\(value)"
  }

  private static func quote(_ text: String, to line: inout String) {
    line += "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": line += "\\\""
      case "\\": line += "\\\\"
      case "\n": line += "\\n"
      case _ where scalar.value < 0x20:
        let digits = String(scalar.value, radix: 16)
        line += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: line.unicodeScalars.append(scalar)
      }
    }
    line += "\""
  }
}

extension JSON: Decodable {
  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let bool = try? value.decode(Bool.self) {
      self = .bool(bool)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else if let text = try? value.decode(String.self) {
      self = .string(text)
    } else if let items = try? value.decode([JSON].self) {
      self = .array(items)
    } else {
      self = .object(try value.decode([String: JSON].self))
    }
  }
}
