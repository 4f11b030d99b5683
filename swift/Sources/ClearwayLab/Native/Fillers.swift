// SPDX-License-Identifier: MIT OR Apache-2.0
import ClearwayChannel
import ClearwayPlugin
import Foundation
#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A mechanism that fills a buffer.
///
/// One thread uses it.
protocol Filler: AnyObject {
  /// Allocates new memory in place of the old memory.
  func renew() throws

  /// Fills the buffer.
  func fill(_ value: UInt8) throws

  /// Returns whether every byte of the buffer is `value`, as Swift reads it.
  func holds(_ value: UInt8) -> Bool
}

enum Fillers {
  static let names = ["c", "converted", "clearway-copied", "clearway-shared", "clearway-native"]

  static func problem(of name: String) -> String? {
    name.hasPrefix("clearway") ? ExamplePlugin.problem : nil
  }

  static func open(_ name: String, size: Int) throws -> any Filler {
    switch name {
    case "c": return InPlace(size)
    case "converted": return Converted(size)
    case "clearway-copied": return try Copied(size, try ExamplePlugin.open())
    case "clearway-shared": return try Shared(size, try ExamplePlugin.open(), isLent: true)
    case "clearway-native": return try Shared(size, try ExamplePlugin.open(), isLent: false)
    default:
      throw LabError("no such mechanism: mechanism=\(name) (\(names.joined(separator: ", ")))")
    }
  }
}

private func areAll(_ bytes: UnsafeRawBufferPointer, _ size: Int, _ value: UInt8) -> Bool {
  bytes.count == size && bytes.allSatisfy { $0 == value }
}

/// Calls the C library's memset with native memory: Swift calls C without a conversion.
private final class InPlace: Filler {
  private let size: Int
  private var memory: UnsafeMutableRawPointer

  init(_ size: Int) {
    self.size = size
    memory = .allocate(byteCount: size, alignment: 64)
  }

  deinit { memory.deallocate() }

  func renew() {
    memory.deallocate()
    memory = .allocate(byteCount: size, alignment: 64)
  }

  func fill(_ value: UInt8) { memset(memory, Int32(value), size) }

  func holds(_ value: UInt8) -> Bool {
    areAll(UnsafeRawBufferPointer(start: memory, count: size), size, value)
  }
}

/// Converts an array of numbers to native bytes and back, element by element.
private final class Converted: Filler {
  private let size: Int
  private var numbers: [Int]
  private let native: UnsafeMutablePointer<UInt8>

  init(_ size: Int) {
    self.size = size
    numbers = [Int](repeating: 0, count: size)
    native = .allocate(capacity: size)
  }

  deinit { native.deallocate() }

  func renew() { numbers = [Int](repeating: 0, count: size) }

  func fill(_ value: UInt8) {
    for at in 0..<size { native[at] = UInt8(truncatingIfNeeded: numbers[at]) }
    memset(native, Int32(value), size)
    for at in 0..<size { numbers[at] = Int(native[at]) }
  }

  func holds(_ value: UInt8) -> Bool {
    numbers.count == size && numbers.allSatisfy { $0 == Int(value) }
  }
}

/// Sends the bytes through a method channel, and gets new bytes back.
private final class Copied: Filler {
  private let size: Int
  private let channel: PluginMethodChannel<StandardMethodCodec>
  private var bytes: [UInt8]

  init(_ size: Int, _ plugin: Plugin) throws {
    self.size = size
    channel = try plugin.channel("memset/method").methods(StandardMethodCodec())
    bytes = [UInt8](repeating: 0, count: size)
  }

  func renew() { bytes = [UInt8](repeating: 0, count: size) }

  func fill(_ value: UInt8) throws {
    let answer = try channel.call("memset", [.bytes(bytes), .int(Int64(value))])
    guard case .bytes(let filled) = answer else { throw LabError("the plugin sent no bytes") }
    bytes = filled
  }

  func holds(_ value: UInt8) -> Bool { bytes.withUnsafeBytes { areAll($0, size, value) } }
}

/// Fills memory that Swift and the plugin see.
///
/// It is memory of Swift that is lent, or memory of the plugin's pool.
private final class Shared: Filler {
  private let size: Int
  private let plugin: Plugin
  private let isLent: Bool
  private let channel: PluginChannel
  private var memory: NativeMemory

  init(_ size: Int, _ plugin: Plugin, isLent: Bool) throws {
    (self.size, self.plugin, self.isLent) = (size, plugin, isLent)
    channel = try plugin.channel("memset/shared")
    memory = try Self.make(size, plugin, isLent)
  }

  private static func make(_ size: Int, _ plugin: Plugin, _ isLent: Bool) throws -> NativeMemory {
    isLent ? try plugin.lend(try HostBuffer(size: size)) : try plugin.allocate(size)
  }

  func renew() throws { memory = try Self.make(size, plugin, isLent) }

  func fill(_ value: UInt8) throws {
    var value = value
    try withUnsafeBytes(of: &value) { bytes in
      try channel.call(bytes, attaching: memory) { _ in }
    }
  }

  func holds(_ value: UInt8) -> Bool { memory.withUnsafeBytes { areAll($0, size, value) } }
}

/// Calls the example plugin, which echoes: on the calling thread, on its queue, or back in Swift.
struct ByPlugin: Caller {
  let isConcurrent: Bool
  let batch: Int
  private let plugin: Plugin
  private let ask: @Sendable () async throws -> Value
  private let expected: JSON

  init(_ row: Row) async throws {
    let plugin = try ExamplePlugin.open()
    self.plugin = plugin
    expected = plain(row.value, bytesAsText: false)
    isConcurrent = row.direction != .toNative
    // A direct call with a small message takes less than some readings of the clock.
    batch = isConcurrent || row.isBinary ? 1 : 32
    let name =
      row.isMethod
      ? (row.codec == "json" ? "echo/json" : "echo/method")
      : row.isBinary ? "echo" : "echo/standard"
    switch row.direction {
    case .toNative: ask = try Self.direct(try plugin.channel(name), row)
    case .toNativeQueue: ask = try Self.later(try plugin.channel(name + "/serial"), row)
    case .fromNative:
      let codec = StandardMessageCodec()
      _ = try plugin.handle("echo/host") { message in
        try codec.encode(try message.withUnsafeBytes { try codec.decode($0) })
      }
      ask = try Self.later(try plugin.channel("echo/back"), row)
    case .toProcess: throw LabError("a plugin is no process: direction=\(row.direction.rawValue)")
    }
  }

  private static func direct(_ channel: PluginChannel, _ row: Row) throws
    -> @Sendable () async throws -> Value
  {
    if row.isMethod {
      if row.codec == "json" {
        let methods = channel.methods(JSONMethodCodec())
        return { try methods.call("test", row.value) }
      }
      let methods = channel.methods(StandardMethodCodec())
      return { try methods.call("test", row.value) }
    }
    if row.isBinary {
      let (messages, bytes) = (channel.messages(BinaryCodec()), row.value.bytesValue ?? [])
      return { .bytes(try messages.call(bytes)) }
    }
    let messages = channel.messages(StandardMessageCodec())
    return { try messages.call(row.value) }
  }

  private static func later(_ channel: PluginChannel, _ row: Row) throws
    -> @Sendable () async throws -> Value
  {
    if row.isMethod {
      if row.codec == "json" {
        let methods = channel.methods(JSONMethodCodec())
        return { try await methods.send("test", row.value) }
      }
      let methods = channel.methods(StandardMethodCodec())
      return { try await methods.send("test", row.value) }
    }
    if row.isBinary {
      let (messages, bytes) = (channel.messages(BinaryCodec()), row.value.bytesValue ?? [])
      return { .bytes(try await messages.send(bytes)) }
    }
    let messages = channel.messages(StandardMessageCodec())
    return { try await messages.send(row.value) }
  }

  func call(isChecked: Bool) async throws -> Bool {
    let answer = try await ask()
    return !isChecked || plain(answer, bytesAsText: false) == expected
  }

  func close() async { try? await plugin.close() }
}

/// The example plugin in C, which Node and the JVM load, too.
enum ExamplePlugin {
  private static let environment = ProcessInfo.processInfo.environment
  private static let path = environment["CLEARWAY_LAB_PLUGIN"] ?? ""
  private static let library = environment["CLEARWAY_LIBRARY"] ?? ""

  /// Says why the plugin cannot be loaded and what to do.
  ///
  /// It is `nil` if the files exist.
  static var problem: String? {
    if !FileManager.default.fileExists(atPath: library) {
      return
        "libclearway is not built: in Clearway's repository, node scripts/native.mjs \"Rust plugins\""
    }
    if !FileManager.default.fileExists(atPath: path) {
      return
        "the example plugin is not built: in Clearway's repository, node scripts/native.mjs \"C plugins\""
    }
    return nil
  }

  static func open() throws -> Plugin {
    if let problem { throw LabError(problem) }
    return try Plugin(path)
  }
}

/// A batch of warm fills covers this many bytes, because a clock reading takes as long as a small
/// fill.
private let batchBytes = 1 << 18

/// Measures fills of one size, one after another, in memory that was filled before, or that each fill
/// allocates.
func measureFills(_ cell: Cell) throws -> Measured {
  let size = try cell.int("bytes", atLeast: 1)
  guard size <= 1 << 30 else { throw LabError("more than 1 GB: bytes=\(size)") }
  let isFresh = try cell.text("memory", among: ["warm", "fresh"]) == "fresh"
  let repetitions = try cell.int("repetitions", atLeast: 1)
  guard repetitions <= 100_000 else {
    throw LabError("more than 100000 repetitions: repetitions=\(repetitions)")
  }
  let limitNs = Int64(try cell.number("timeMsMax") * 1e6)
  let batch = isFresh ? 1 : max(1, batchBytes / size)
  let filler = try Fillers.open(cell.mechanism, size: size)
  for value in 0..<4 { try filler.fill(UInt8(value)) }
  let end = nowNs() + limitNs
  var ns: [Int64] = []
  var value: UInt8 = 0
  while ns.count < repetitions, ns.isEmpty || nowNs() < end {
    value = UInt8(truncatingIfNeeded: ns.count)
    let begin = nowNs()
    if isFresh { try filler.renew() }
    for _ in 0..<batch { try filler.fill(value) }
    ns.append((nowNs() - begin) / Int64(batch))
  }
  return Measured(
    samples: ["fill": Samples(unit: "us", ns: ns, batch: batch)],
    result: .object(["filled": .bool(filler.holds(value))]))
}
