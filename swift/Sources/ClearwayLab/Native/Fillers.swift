// SPDX-License-Identifier: MIT OR Apache-2.0
import ClearwayChannel
import ClearwayPlugin

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
