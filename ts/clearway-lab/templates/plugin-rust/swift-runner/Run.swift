// SPDX-License-Identifier: MIT OR Apache-2.0
// Loads the plugin in Swift and uses all its channels. README.md has the command.
import ClearwayChannel
import ClearwayPlugin

@main
struct Run {
  static func main() async throws {
    let plugin = try Plugin(CommandLine.arguments[1])

    let answer = try plugin.channel("uppercase").messages(.standard).call("hello")
    print(answer.stringValue ?? "")

    let counts = try plugin.channel("count").messages(.standard)
    let count = try await counts.send(["text": "hello world"])
    print("words: \(count["words"]?.intValue ?? 0), letters: \(count["letters"]?.intValue ?? 0)")

    for try await tick in try plugin.channel("ticks").messages(.standard).listen(["count": 3]) {
      let number = try tick.withUnsafeBytes { try StandardMessageCodec().decode($0) }
      print("tick", number.intValue ?? 0)
    }

    do {
      _ = try await counts.send(["text": ""])
    } catch let error as ClearwayError {
      print(error.code.rawValue, error.message)
    }
    try await plugin.close()
  }
}
