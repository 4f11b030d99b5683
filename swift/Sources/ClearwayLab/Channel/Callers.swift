// SPDX-License-Identifier: MIT OR Apache-2.0
import ClearwayChannel
import Foundation

/// Calls a peer that echoes.
protocol Caller: Sendable {
  /// Whether several calls may be under way.
  var isConcurrent: Bool { get }

  /// The number of round trips that are timed together.
  var batch: Int { get }

  /// Makes one round trip.
  ///
  /// Returns whether the answer equals the row's value, if `isChecked`, else true.
  func call(isChecked: Bool) async throws -> Bool

  /// Ends the peer.
  func close() async
}

extension Caller {
  var batch: Int { 1 }
}

enum Callers {
  static let names = ["bytes-stdio", "clearway-stdio"]
  static let plugin = "clearway-plugin"

  static func open(_ name: String, _ row: Row) async throws -> any Caller {
    guard (name == plugin) == (row.direction != .toProcess) else {
      throw LabError("no such row: mechanism=\(name) direction=\(row.direction.rawValue)")
    }
    switch name {
    case "bytes-stdio":
      if row.isMethod { throw LabError("hand-written bytes have no methods: channel=method") }
      return try ByStreams(row)
    case "clearway-stdio": return try await ByEndpoint(row)
    case plugin: return try await ByPlugin(row)
    default:
      throw LabError("no such mechanism: mechanism=\(name) (\(names.joined(separator: ", ")))")
    }
  }

  /// The arguments with which this program is the other end.
  static func echoArguments(_ mechanism: String, _ row: Row) -> [String] {
    ["echo", mechanism] + row.words
  }

  static var program: String { CommandLine.arguments[0] }
}

/// Length-prefixed bytes through the child's pipes.
///
/// The calling thread writes and reads.
private final class ByStreams: Caller, @unchecked Sendable {
  let isConcurrent = false
  private let child = Process()
  private let (toChild, fromChild) = (Pipe(), Pipe())
  private let row: Row
  private let bytes: Data
  private let object: Any

  init(_ row: Row) throws {
    self.row = row
    bytes = Data(row.value.bytesValue ?? [])
    object = foundation(row.value)
    child.executableURL = URL(fileURLWithPath: Callers.program)
    child.arguments = Callers.echoArguments("bytes-stdio", row)
    child.standardInput = toChild
    child.standardOutput = fromChild
    try child.run()
  }

  func call(isChecked: Bool) async throws -> Bool {
    let message =
      row.isBinary
      ? bytes : try JSONSerialization.data(withJSONObject: object, options: .fragmentsAllowed)
    try SizedMessages.write(message, to: toChild.fileHandleForWriting)
    guard let answer = try SizedMessages.read(fromChild.fileHandleForReading) else {
      throw LabError("the child process ended before the measurement did")
    }
    if row.isBinary { return !isChecked || answer == bytes }
    keep(try JSONSerialization.jsonObject(with: answer, options: .fragmentsAllowed))
    return try !isChecked
      || JSON(parsing: String(decoding: answer, as: UTF8.self))
        == plain(row.value, bytesAsText: true)
  }

  func close() async {
    try? toChild.fileHandleForWriting.close()
    child.waitUntilExit()
  }
}

/// Clearway's channel over the child's standard streams, with default options.
private struct ByEndpoint: Caller {
  let isConcurrent = true
  private let endpoint: Endpoint
  private let ask: @Sendable () async throws -> Value

  /// The value as the codec returns it.
  private let expected: JSON

  init(_ row: Row) async throws {
    let child = try ChildProcess(
      Callers.program, arguments: Callers.echoArguments("clearway-stdio", row))
    let endpoint = try await Endpoint.connect(try StreamTransport(child: child))
    self.endpoint = endpoint
    expected = plain(row.value, bytesAsText: false)
    if row.isMethod {
      let methods = try endpoint.methods(Echo.name, codec: Echo.codec(of: row))
      ask = { try await methods.call("test", row.value) }
    } else if row.isBinary {
      let (messages, bytes) = (
        try endpoint.messages(Echo.name, codec: BinaryCodec()), row.value.bytesValue ?? []
      )
      ask = { .bytes(try await messages.send(bytes) ?? []) }
    } else {
      let messages = try endpoint.messages(Echo.name)
      ask = { try await messages.send(row.value) ?? .null }
    }
  }

  func call(isChecked: Bool) async throws -> Bool {
    let answer = try await ask()
    return !isChecked || plain(answer, bytesAsText: false) == expected
  }

  func close() async { await endpoint.close() }
}
