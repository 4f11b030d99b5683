// SPDX-License-Identifier: MIT OR Apache-2.0
import ClearwayChannel
import Foundation
import Testing

@testable import ClearwayPlugin

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

    @Test("is closed with the last reference to it, and leaves no thread")
    func forgotten() async throws {
      do {
        let plugin = try open()
        _ = try await plugin.channel("pool/echo").send([1])
      }
      do { _ = try open().channel("echo").call([1]) }
      await until { threads(named: "clearway-plugin") == 0 }
    }
  }
}
