// SPDX-License-Identifier: MIT OR Apache-2.0
// The lab's runner for Swift. A thread of its own answers the requests and sends the events; the main thread serves the
// main actor, as an app's does.
import Dispatch
import Foundation

let server = Thread {
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
