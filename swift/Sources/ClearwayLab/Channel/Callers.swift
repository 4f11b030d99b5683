// SPDX-License-Identifier: MIT OR Apache-2.0
import ClearwayChannel
import Dispatch
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

private let lanes = 3

/// Measures one row with one mechanism: round trips one at a time, and three in flight if the
/// mechanism can.
func measureCalls(_ cell: Cell) throws -> Measured {
  let row = try Row(cell)
  let messages = try cell.int("messages", atLeast: 1)
  guard messages <= 100_000 else {
    throw LabError("more than 100000 messages: messages=\(messages)")
  }
  let warmUpNs = Int64(try cell.number("warmUpMs") * 1e6)
  let mechanism = cell.mechanism
  return try waitFor {
    let caller = try await Callers.open(mechanism, row)
    do {
      let measured = try await measure(caller, messages: messages, warmUpNs: warmUpNs)
      await caller.close()
      return measured
    } catch {
      await caller.close()
      throw error
    }
  }
}

private func measure(_ caller: any Caller, messages: Int, warmUpNs: Int64) async throws -> Measured
{
  let begin = nowNs()
  var isEqual = try await caller.call(isChecked: true)
  var calls = 0
  while nowNs() - begin < warmUpNs, calls < 2000 {
    _ = try await caller.call(isChecked: false)
    calls += 1
  }
  var measured = Measured(result: .null)
  measured.samples["roundTrip"] = Samples(
    unit: "us", ns: try await trips(caller, messages, batch: caller.batch), batch: caller.batch)
  if caller.isConcurrent {
    let begin = nowNs()
    let each = messages / lanes + 1
    let ns = try await withThrowingTaskGroup(of: [Int64].self) { group in
      for _ in 0..<lanes { group.addTask { try await trips(caller, each) } }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    measured.samples["roundTripOfThree"] = Samples(unit: "us", ns: ns)
    measured.values["perMessageOfThree"] = Figure(
      unit: "us", value: Double(nowNs() - begin) / 1000 / Double(ns.count))
  }
  isEqual = try await caller.call(isChecked: true) && isEqual
  measured.result = .object(["equal": .bool(isEqual)])
  return measured
}

private func trips(_ caller: any Caller, _ count: Int, batch: Int = 1) async throws -> [Int64] {
  var ns: [Int64] = []
  ns.reserveCapacity(count)
  for _ in 0..<count {
    let begin = nowNs()
    for _ in 0..<batch { _ = try await caller.call(isChecked: false) }
    ns.append((nowNs() - begin) / Int64(batch))
  }
  return ns
}

/// Blocks the thread until a task has done the work.
private func waitFor<Result: Sendable>(_ work: @escaping @Sendable () async throws -> Result) throws
  -> Result
{
  let box = Box<Result>()
  Task.detached {
    do { box.result = .success(try await work()) } catch { box.result = .failure(error) }
    box.isDone.signal()
  }
  box.isDone.wait()
  guard let result = box.result else { throw LabError("the task had no result") }
  return try result.get()
}

/// The task writes before the signal, and the thread reads after it.
private final class Box<Result>: @unchecked Sendable {
  var result: Swift.Result<Result, any Error>?
  let isDone = DispatchSemaphore(value: 0)
}
