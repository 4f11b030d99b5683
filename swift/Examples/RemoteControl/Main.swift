// SPDX-License-Identifier: MIT OR Apache-2.0
// The Swift end of examples/remote-control: receives frames, sends commands, and measures how long a
// command takes until a frame shows it. Prints the medians as JSON, before and after a delay is added.
//
//   RemoteControlExample --port 4175 [--commands 24] [--delay-ms 60]
//   RemoteControlExample --url ws://127.0.0.1:4174/ --token TOKEN

import ClearwayChannel

@main
struct Main {
  static func main() async throws {
    let options = try Options(CommandLine.arguments.dropFirst())
    let endpoint = try await Endpoint.connect(try await options.connect())
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
  var url = ""
  var token: String?
  var commands = 24
  var delayMs = 0.0

  struct Problem: Error, CustomStringConvertible { let description: String }

  init(_ arguments: some Sequence<String>) throws {
    var words = Array(arguments)[...]
    while let name = words.popFirst() {
      let value = words.popFirst() ?? ""
      switch name {
      case "--url": url = value
      case "--token": token = value
      case "--port": port = Int(try Self.number(name, value))
      case "--commands": commands = Int(try Self.number(name, value))
      case "--delay-ms": delayMs = try Self.number(name, value)
      default:
        throw Problem(
          description: "unknown option \(name) (--port, --url, --token, --commands, --delay-ms)")
      }
    }
    if port == 0, url.isEmpty { throw Problem(description: "--port or --url is missing") }
  }

  private static func number(_ name: String, _ value: String) throws -> Double {
    guard let number = Double(value), (0...1e9).contains(number) else {
      throw Problem(description: "\(name) must be a number from 0 to 1000000000: \(name)=\(value)")
    }
    return number
  }

  func connect() async throws -> StreamTransport {
    guard url.isEmpty else {
      return try await StreamTransport.connect(webSocket: url, token: token)
    }
    return try await StreamTransport.connect(to: .tcp(host: "127.0.0.1", port: port))
  }
}
