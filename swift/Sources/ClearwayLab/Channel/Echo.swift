// SPDX-License-Identifier: MIT OR Apache-2.0
import ClearwayChannel
import Foundation

/// The child process at the other end of a channel: it sends every message back.
enum Echo {
  /// Runs the child that `arguments` name: the word `echo`, a mechanism and a row.
  static func run(_ arguments: [String]) async throws {
    guard arguments.count == 5 else { throw LabError("echo needs a mechanism and a row") }
    let row = try Row(words: Array(arguments[2...]))
    if arguments[1] == "bytes-stdio" { return try echoBytes(row) }
    let endpoint = try await Endpoint.connect(try StreamTransport.parent())
    if row.isMethod {
      try endpoint.methods(name, codec: codec(of: row)).handle { call, _ in call.arguments }
    } else if row.isBinary {
      try endpoint.messages(name, codec: BinaryCodec()).handle { bytes, _ in bytes }
    } else {
      try endpoint.messages(name).handle { value, _ in value }
    }
    _ = await endpoint.closed()
  }

  static let name = "lab/echo"

  static func codec(of row: Row) -> any MethodCodec {
    row.codec == "json" ? JSONMethodCodec() : StandardMethodCodec()
  }

  private static func echoBytes(_ row: Row) throws {
    let (input, output) = (FileHandle.standardInput, FileHandle.standardOutput)
    while let message = try SizedMessages.read(input) {
      try SizedMessages.write(row.isBinary ? message : try again(message), to: output)
    }
  }

  /// Decodes a message of values and encodes it again, as a channel does.
  private static func again(_ message: Data) throws -> Data {
    let value = try JSONSerialization.jsonObject(with: message, options: .fragmentsAllowed)
    return try JSONSerialization.data(withJSONObject: value, options: .fragmentsAllowed)
  }
}

/// Messages with their length in front, in four bytes.
enum SizedMessages {
  static func write(_ message: Data, to output: FileHandle) throws {
    var bytes = withUnsafeBytes(of: UInt32(message.count).bigEndian) { Data($0) }
    bytes.append(message)
    try output.write(contentsOf: bytes)
  }

  /// Returns the next message, or `nil` at the end of the input.
  static func read(_ input: FileHandle) throws -> Data? {
    guard let head = try exactly(4, of: input) else { return nil }
    return try exactly(head.reduce(0) { $0 << 8 | Int($1) }, of: input)
  }

  private static func exactly(_ count: Int, of input: FileHandle) throws -> Data? {
    var bytes = Data()
    while bytes.count < count {
      guard let piece = try input.read(upToCount: count - bytes.count), !piece.isEmpty else {
        return nil
      }
      bytes.append(piece)
    }
    return bytes
  }
}
