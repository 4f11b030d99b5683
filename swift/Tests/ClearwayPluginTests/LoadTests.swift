// SPDX-License-Identifier: MIT OR Apache-2.0
@testable import ClearwayPlugin
import ClearwayChannel
import ClearwayPlugin
import Foundation
import Testing

extension PluginTests {
  @Suite("when it is loaded")
  struct Load {
    @Test("is load-failed when there is no such file or it is no library, and says why")
    func noFile() async throws {
      let text = try Built.probe("text")
      #expect(await code { _ = try Plugin("/nowhere/at/all.so", options: options) } == .loadFailed)
      #expect(await code { _ = try Plugin(text, options: options) } == .loadFailed)
      do {
        _ = try Plugin("/nowhere/at/all.so", options: options)
      } catch {
        #expect(error.message.contains("nowhere"))
      }
    }

    @Test("is not-a-plugin, wrong-version or init-failed when its init says so")
    func wrong() async throws {
      for (name, expected) in [
        ("none", ClearwayError.Code.notAPlugin), ("old", .wrongVersion), ("refuses", .initFailed),
      ] {
        let path = try Built.probe(name)
        #expect(await code { _ = try Plugin(path, options: options) } == expected)
      }
    }

    @Test("is opened twice with a state of its own each time")
    func twice() async throws {
      let (one, two) = (try open(), try open())
      try await one.close()
      #expect(try two.channel("null").call() == nil)
      try await two.close()
    }

    @Test("is refused when an option is out of range, with its name and value")
    func ranges() throws {
      for (options, message) in [
        (PluginOptions(threads: 0), "threads must be 1 to 1024: threads=0"),
        (PluginOptions(callsMax: 1_000_001), "callsMax must be 1 to 1000000: callsMax=1000001"),
        (PluginOptions(streamsMax: -1), "streamsMax must be 1 to 65536: streamsMax=-1"),
      ] {
        #expect(throws: ClearwayError(.invalidArgument, message)) {
          _ = try Plugin("x", options: options)
        }
      }
    }

    @Test("has the header that the repository has, and each status has a code")
    func header() throws {
      let include = Built.root.appending(path: "swift/Sources/CClearway/include")
      for name in ["clearway.h", "clearway_host.h"] {
        let own = try Data(contentsOf: include.appending(path: name))
        #expect(try own == Data(contentsOf: Built.root.appending(path: "native/include/\(name)")))
      }
      let page = try String(
        contentsOf: Built.root.appending(path: "spec/errors.md"), encoding: .utf8)
      for status in 2...19 {
        #expect(page.contains("| `\(code(of: Int32(status)).rawValue)` |"), "status \(status)")
      }
      #expect(code(of: -1) == .badAnswer)
      #expect(code(of: 20) == .badAnswer)
      #expect(code(of: 1000) == .failed)
    }

    @Test("is closed with the last reference to it, and its thread ends")
    func forgotten() async throws {
      // The plugin's thread keeps the core.
      weak var core: PluginCore?
      do {
        let plugin = try open()
        core = plugin.core
        _ = try await plugin.channel("pool/echo").send([1])
      }
      await until { core == nil }
      do {
        let channel = try open().channel("echo")
        core = channel.plugin.core
        #expect(try channel.call([1]) == [1])
      }
      await until { core == nil }
    }

    @Test("is closed when a handler ends that still ran when the last reference went away")
    func forgottenWhileAHandlerRuns() async throws {
      let (held, kept) = (try HostBuffer(size: 4), try HostBuffer(size: 1))
      weak var core: PluginCore?
      do {
        let plugin = try open()
        core = plugin.core
        // The plugin releases what this channel keeps when it is closed.
        let one = try plugin.lend(kept)
        try plugin.channel("keep").call(one) { #expect($0 == nil) }
        one.release()
        let call = Task {
          let lent = try plugin.lend(held)
          try await plugin.channel("pool/hold").send(lent).release()
        }
        await until {
          held.withUnsafeMutableBytes { $0.loadUnaligned(fromByteOffset: 1, as: UInt8.self) == 1 }
        }
        call.cancel()
        #expect(await isCancelled(call))
      }
      // The plugin closes, and the handler still runs.
      await until {
        do {
          return try core?.listen("nobody", PluginListenOptions()) == nil
        } catch {
          return (error as? ClearwayError)?.code == .closed
        }
      }
      held.withUnsafeMutableBytes { $0[0] = 1 }
      await kept.returned()
      await until { core == nil }
    }
  }
}

extension PluginTests {
  /// Tests with the example plugins that every host loads (native/plugins/README.md).
  @Suite("of the examples")
  struct Examples {
    @Test("fills memory in four ways", arguments: ["c", "rust"])
    func memset(language: String) async throws {
      let plugin = try Plugin(Built.example(language), options: options)
      let size = 100_000
      let method = try plugin.channel("memset/method").methods(.standard)
      let arguments = Value.list([.bytes([UInt8](repeating: 0, count: size)), .int(9)])
      let filled = try method.call("memset", arguments).bytesValue
      #expect(filled == [UInt8](repeating: 9, count: size))
      #expect(try await method.send("memset", arguments).bytesValue == filled)

      let shared = try plugin.channel("memset/shared")
      let memory = try plugin.allocate(size)
      try [7].withUnsafeBytes { (value: UnsafeRawBufferPointer) in
        try shared.call(value, attaching: memory) { #expect($0 == nil) }
      }
      #expect(memory.withUnsafeBytes { $0.allSatisfy { $0 == 7 } })

      let buffer = try HostBuffer(size: size)
      let lent = try plugin.lend(buffer)
      try await shared.send([5], attaching: lent).release()
      lent.release()
      await buffer.returned()
      #expect(buffer.withUnsafeMutableBytes { $0.allSatisfy { $0 == 5 } })

      let held = (0..<3).flatMap { int32s([UInt32(size), 3, 2][$0], 0) }
      #expect(try await plugin.channel("memset/held").send(held).size == 8)
      try await plugin.close()
    }

    @Test("echo in every place, and by the host's own channel", arguments: ["c", "rust"])
    func echo(language: String) async throws {
      let plugin = try Plugin(Built.example(language), options: options)
      try plugin.handle("echo/host") { $0.bytes }
      for name in ["echo", "echo/pool", "echo/serial", "echo/back"] {
        for size in [0, 3, 63, 64, 5000, 1 << 20] {
          let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
          #expect(try await plugin.channel(name).send(bytes).bytes == bytes)
        }
      }
      let values = try plugin.channel("echo/standard").messages(.standard)
      let value = Value.list([.int(1), .string("\u{e9}"), .double(2.5), .null, .bool(true)])
      #expect(try values.call(value) == value)
      #expect(try await values.send(value) == value)
      #expect(try plugin.channel("echo/method").methods(.standard).call("m", value) == value)
      try await plugin.close()
    }

    @Test(
      "emit all readings in order, and frames in memory that goes back", arguments: ["c", "rust"])
    func events(language: String) async throws {
      let plugin = try Plugin(Built.example(language), options: options)
      let sensor = try plugin.channel("sensor").messages(.standard)
      let arguments: Value = ["rate": 0, "count": 2000]
      var numbers: [UInt64] = []
      for try await event in try sensor.listen(arguments) {
        numbers.append(event.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) })
      }
      #expect(numbers.map { $0 - numbers[0] } == (0..<2000).map { UInt64($0) })

      let before = try plugin.stats().memories
      do {
        let codec = StandardMessageCodec()
        let frames = try plugin.channel("frames").listen(
          .latest(arguments: codec.encode(["rate": 0, "width": 320, "height": 200])))
        var last: UInt32?
        var count = 0
        for try await frame in frames {
          #expect(frame.size == 320 * 200 * 4)
          let (magic, number) = frame.withUnsafeBytes {
            (
              $0.loadUnaligned(as: UInt32.self),
              $0.loadUnaligned(fromByteOffset: 4, as: UInt32.self)
            )
          }
          #expect(magic == 0x3146_4c43)
          if let last { #expect(number > last) }
          last = number
          count += 1
          if count == 20 { break }
        }
      }
      try await until { try plugin.stats().streams == 0 && plugin.stats().memories <= before }
      try await plugin.close()
    }
  }
}

extension PluginTests {
  @Test("runs the examples of docs/plugins.md")
  func docs() async throws {
    let path = Built.example("c")
    let options = options
    // #region open
    let plugin = try Plugin(path, options: options)
    let memset = try plugin.channel("memset/method").methods(.standard)
    let filled = try memset.call("memset", [.bytes([0, 0, 0]), 9])
    // #endregion open
    #expect(filled == .bytes([9, 9, 9]))
    // #region memory
    let memory = try plugin.allocate(4096)
    try await plugin.channel("memset/shared").send([7], attaching: memory).release()
    let sum = memory.withUnsafeBytes { $0.reduce(0) { $0 + Int($1) } }
    memory.release()
    // #endregion memory
    #expect(sum == 7 * 4096)
    // #region events
    let sensor = try plugin.channel("sensor").messages(.standard)
    var count = 0
    for try await reading in try sensor.listen(["rate": 0, "count": 100]) {
      count += reading.withUnsafeBytes { $0.count } / 24
    }
    try await plugin.close()
    // #endregion events
    #expect(count == 100)
  }
}
