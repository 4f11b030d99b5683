// SPDX-License-Identifier: MIT OR Apache-2.0
import ClearwayChannel

/// One row of the channel tables: kind of channel, codec and payload.
///
/// The reply equals the payload.
struct Row: Sendable {
  /// Where the calls go.
  enum Direction: String, CaseIterable, Sendable {
    case toProcess = "host to process"
    case toNative = "host to native"
    case toNativeQueue = "host to native, background"
    case fromNative = "native to host"
  }

  /// The parameters of which another process makes the same row.
  let words: [String]
  let direction: Direction
  let isMethod: Bool
  let codec: String

  /// The value to send.
  ///
  /// Bytes, if the codec is binary.
  let value: Value

  var isBinary: Bool { codec == "binary" }

  init(words: [String], direction: Direction = .toProcess) throws {
    self.direction = direction
    guard words.count == 3 else { throw LabError("a row has three words: \(words)") }
    guard ["message", "method"].contains(words[0]) else {
      throw LabError("no such channel: channel=\(words[0]) (message, method)")
    }
    guard ["standard", "json", "binary"].contains(words[1]),
      words[0] == "message" || words[1] != "binary"
    else { throw LabError("no such codec: channel=\(words[0]) codec=\(words[1])") }
    self.words = words
    isMethod = words[0] == "method"
    codec = words[1]
    value =
      switch words[2] {
      case "4 KB": .bytes(Self.bytes(1 << 12))
      case "1 MB": .bytes(Self.bytes(1 << 20))
      case let name: try Payload.named(name)
      }
    guard !isBinary || value.bytesValue != nil else {
      throw LabError("the binary codec carries bytes only: payload=\(words[2])")
    }
  }

  init(_ cell: Cell) throws {
    let direction = try cell.text("direction", among: Direction.allCases.map(\.rawValue))
    try self.init(
      words: ["channel", "codec", "payload"].map { name in
        guard let text = cell.params[name]?.text else {
          throw LabError("the parameter must be text: \(name)")
        }
        return text
      }, direction: Direction(rawValue: direction) ?? .toProcess)
  }

  private static func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 * 31) }
  }
}
