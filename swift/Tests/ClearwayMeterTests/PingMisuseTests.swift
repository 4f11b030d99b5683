// SPDX-License-Identifier: MIT OR Apache-2.0
import Testing

@testable import ClearwayMeter

@Suite("A mistake in a series of pings", .timeLimit(.minutes(1)))
struct PingMisuseTests {
  @Test("waits for the longest interval until its task is cancelled")
  func longestInterval() async throws {
    let (pings, ping) = AsyncStream.makeStream(of: Void.self)
    let series = Task {
      try await Meter.ping(count: 2, intervalMs: .greatestFiniteMagnitude) {
        ping.yield()
        return nil
      }
    }
    for await _ in pings { break }
    series.cancel()
    #expect(try await series.value.roundTripMs.n == 1)
  }

  @Test("counts a target's first answer, also if the target runs a task twice")
  func twice() async throws {
    let target = MeterTarget { task in
      task()
      task()
    }
    #expect(try await Meter.ping(target, count: 3).roundTripMs.n == 3)
  }
}
