// SPDX-License-Identifier: MIT OR Apache-2.0
// Takes the steps of test/plugin-hosts/README.md from stdin, and prints the answer to each.

import ClearwayChannel
import ClearwayPlugin

/// Runs steps with one plugin at a time.
struct PluginSteps {
  private struct InvalidStep: Error {}

  private var plugin: Plugin?

  /// Answers every line of stdin.
  static func run() async {
    var steps = PluginSteps()
    while let step = readLine() { print(await steps.answer(step)) }
  }

  private mutating func answer(_ step: String) async -> String {
    do {
      if step.hasPrefix("open ") {
        let plugin = try Plugin(String(step.dropFirst("open ".count)))
        try plugin.handle("echo/host") { message in message.bytes }
        self.plugin = plugin
        return "opened"
      }
      return try await run(step.split(separator: " ").map(String.init))
    } catch let error as ClearwayError {
      return "error \(error.code.rawValue)"
    } catch {
      return "error \(error)"
    }
  }

  private func run(_ words: [String]) async throws -> String {
    guard let plugin, let verb = words.first else { throw InvalidStep() }
    if verb == "close" {
      try await plugin.close()
      return "closed"
    }
    guard words.count >= 3 else { throw InvalidStep() }
    let channel = try plugin.channel(words[1])
    switch verb {
    case "call": return word(try channel.call(try payload(words[2])))
    case "send": return word(try await channel.send(try payload(words[2])).bytes)
    case "attach":
      guard words.count == 4 else { throw InvalidStep() }
      let memory = try filled(plugin, words[3])
      let answer = try await channel.send(try payload(words[2]), attaching: memory).bytes
      return "\(word(answer)) \(word(memory.withUnsafeBytes { [UInt8]($0) }))"
    case "lend":
      let memory = try filled(plugin, words[2])
      let answer = try await channel.send(memory).bytes
      return "\(word(answer)) \(word(memory.withUnsafeBytes { [UInt8]($0) }))"
    case "listen":
      let numbers = words.dropFirst(3).compactMap { Int($0) }
      guard numbers.count == 4 else { throw InvalidStep() }
      let options = PluginListenOptions(arguments: try payload(words[2]), items: numbers[0])
      return try await read(
        try channel.listen(options), from: numbers[1], to: numbers[2], count: numbers[3])
    default: throw InvalidStep()
    }
  }

  private func filled(_ plugin: Plugin, _ word: String) throws -> NativeMemory {
    guard let bytes = try payload(word) else { throw InvalidStep() }
    let memory = try plugin.allocate(bytes.count)
    memory.withUnsafeMutableBytes { $0.copyBytes(from: bytes) }
    return memory
  }

  private func read(_ events: PluginEvents, from: Int, to: Int, count: Int) async throws -> String {
    var (seen, size, hash): (Int, Int, UInt32) = (0, 0, 0x811c_9dc5)
    for try await event in events {
      seen += 1
      size += event.size
      event.withUnsafeBytes { bytes in
        for byte in bytes.prefix(to).dropFirst(from) {
          hash = (hash ^ UInt32(byte)) &* 0x0100_0193
        }
      }
      if seen == count { break }
    }
    events.cancel()
    return "\(seen) events, \(size) bytes, \(String(hash, radix: 16))"
  }

  private func payload(_ word: String) throws -> [UInt8]? {
    word == "null" ? nil : try unhex(String(word.dropFirst()))
  }

  private func word(_ bytes: [UInt8]?) -> String { bytes.map { "x" + hex($0) } ?? "null" }
}
