// SPDX-License-Identifier: MIT OR Apache-2.0
// Answers the cases of conformance/README.md: one JSON case per line on stdin, one JSON answer per
// line on stdout. With the argument `plugin`, runs the steps of test/plugin-hosts/README.md.

import ClearwayChannel
import Dispatch

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

@main
struct Main {
  static func main() {
    guard CommandLine.arguments.dropFirst().first == "plugin" else { return answerCases() }
    Task.detached {
      await PluginSteps.run()
      exit(0)
    }
    dispatchMain()
  }

  private static func answerCases() {
    var pending: [UInt8] = []
    var answers: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(0, &piece, piece.count)
      if count <= 0 { break }
      var from = 0
      for at in 0..<count where piece[at] == UInt8(ascii: "\n") {
        pending += piece[from..<at]
        answers += answer(pending)
        answers.append(UInt8(ascii: "\n"))
        pending.removeAll(keepingCapacity: true)
        from = at + 1
      }
      pending += piece[from..<count]
      writeAll(answers)
      answers.removeAll(keepingCapacity: true)
    }
    if !pending.isEmpty { writeAll(answer(pending) + [UInt8(ascii: "\n")]) }
  }

  static func writeAll(_ bytes: [UInt8]) {
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes { write(1, $0.baseAddress! + done, bytes.count - done) }
      if count <= 0 { exit(1) }
      done += count
    }
  }
}
