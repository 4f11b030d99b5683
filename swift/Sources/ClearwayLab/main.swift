// SPDX-License-Identifier: MIT OR Apache-2.0
// The lab's runner for Swift. A thread of its own answers the requests and sends the events; the main thread serves the
// main actor, as an app's does.
import Dispatch
import Foundation

let arguments = Array(CommandLine.arguments.dropFirst())
let server = Thread {
  // The other end of a channel is this program, too.
  if arguments.first == "echo" {
    Task {
      do {
        try await Echo.run(arguments)
        exit(0)
      } catch {
        FileHandle.standardError.write(Data("echo: \(error)\n".utf8))
        exit(1)
      }
    }
    return
  }

  let output = FileHandle.standardOutput
  while let line = readLine() {
    if line.allSatisfy(\.isWhitespace) { continue }
    output.write(Data((answer(to: line, by: Runner()) + "\n").utf8))
  }
  exit(0)
}
server.name = "sender"
server.start()
dispatchMain()
