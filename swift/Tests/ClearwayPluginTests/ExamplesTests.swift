// SPDX-License-Identifier: MIT OR Apache-2.0
import ClearwayChannel
import Foundation
import Testing

@testable import ClearwayPlugin

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
