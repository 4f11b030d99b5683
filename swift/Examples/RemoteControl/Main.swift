// SPDX-License-Identifier: MIT OR Apache-2.0
// The Swift end of examples/remote-control: receives frames, sends commands, and measures how long a
// command takes until a frame shows it. Prints the medians as JSON, before and after a delay is added.
//
//   RemoteControlExample --port 4175 [--commands 24] [--delay-ms 60]

import ClearwayChannel

@main
struct Main {
  static func main() async throws {
    let options = try Options(CommandLine.arguments.dropFirst())
    // #region connect
    let transport = try await StreamTransport.connect(
      to: .tcp(host: "127.0.0.1", port: options.port))
    let endpoint = try await Endpoint.connect(transport)
    // #endregion connect
    var remote = try Remote(endpoint)
    var meter = Meter()
    try await remote.measure(options.commands, into: &meter)
    print(meter.line(label: "before"))
    if options.delayMs > 0 {
      try await remote.addDelay(options.delayMs)
      var later = Meter()
      try await remote.measure(options.commands, into: &later)
      print(later.line(label: "after"))
      try await remote.addDelay(0)
    }
    await endpoint.close()
  }
}

struct Options {
  var port = 0
  var commands = 24
  var delayMs = 0.0

  struct Problem: Error, CustomStringConvertible { let description: String }

  init(_ arguments: some Sequence<String>) throws {
    var words = Array(arguments)[...]
    while let name = words.popFirst() {
      guard let value = words.popFirst().flatMap({ Double($0) }), value >= 0 else {
        throw Problem(description: "\(name) must have a number of 0 or more")
      }
      switch name {
      case "--port": port = Int(value)
      case "--commands": commands = Int(value)
      case "--delay-ms": delayMs = value
      default: throw Problem(description: "unknown option \(name) (--port, --commands, --delay-ms)")
      }
    }
    if port == 0 { throw Problem(description: "--port is missing") }
  }
}
