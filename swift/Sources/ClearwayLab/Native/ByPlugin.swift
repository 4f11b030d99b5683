// SPDX-License-Identifier: MIT OR Apache-2.0
import ClearwayChannel
import ClearwayPlugin

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
      row.isMethod ? (row.codec == "json" ? "echo/json" : "echo/method")
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
