// SPDX-License-Identifier: MIT OR Apache-2.0
// Loads the plugin in Swift and uses all its channels. README.md has the command.
import ClearwayChannel
import ClearwayPlugin

@main
struct Run {
  static func number(_ bytes: UnsafeRawBufferPointer, at index: Int) -> UInt32 {
    bytes.loadUnaligned(fromByteOffset: 4 * index, as: UInt32.self)
  }

  static func main() async throws {
    let plugin = try Plugin(CommandLine.arguments[1])

    let answer = try plugin.channel("uppercase").call(Array("hello".utf8))
    print(String(decoding: answer ?? [], as: UTF8.self))

    let count = try await plugin.channel("count").send(Array("hello world".utf8))
    count.withUnsafeBytes { print("words: \(number($0, at: 0)), letters: \(number($0, at: 1))") }

    let three = withUnsafeBytes(of: UInt32(3)) { Array($0) }
    for try await tick in try plugin.channel("ticks").listen(PluginListenOptions(arguments: three)) {
      tick.withUnsafeBytes { print("tick", number($0, at: 0)) }
    }

    do {
      _ = try await plugin.channel("count").send([])
    } catch let error as ClearwayError {
      print(error.code.rawValue, error.message)
    }
    try await plugin.close()
  }
}
