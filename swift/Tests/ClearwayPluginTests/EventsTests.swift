// SPDX-License-Identifier: MIT OR Apache-2.0
import ClearwayChannel
import Foundation
import Testing

@testable import ClearwayPlugin

extension PluginTests {
  @Suite("when it emits events")
  struct Events {
    @Test("loses none of a million events, and keeps their order")
    func million() async throws {
      let plugin = try open()
      let count: UInt32 = 1_000_000
      let events = try plugin.channel("ticks").listen(
        PluginListenOptions(arguments: int32s(count, 8, 0), items: 1024))
      var next: UInt32 = 0
      var isInOrder = true
      for try await event in events {
        let number = event.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
        isInOrder = isInOrder && UInt32(littleEndian: number) == next
        next += 1
      }
      #expect(isInOrder)
      #expect(next == count)
      #expect(events.dropped == 0)
      try await plugin.close()
    }

    @Test("waits when the reader gives no credit")
    func credit() async throws {
      let plugin = try open()
      let events = try plugin.channel("ticks").listen(
        PluginListenOptions(arguments: int32s(0, 8, 0), items: 8))
      var iterator = events.makeAsyncIterator()
      for expected in 0..<100 as Range<UInt32> {
        #expect(number(try await iterator.next()?.bytes) == expected)
      }
      // Swift has drained what it gave credit for, and the rest waits on the native side.
      #expect(try plugin.stats().events <= 100 + 8)
      events.cancel()
      try await plugin.close()
    }

    @Test("emits memory that goes back to its pool with the last reference to the event")
    func memory() async throws {
      let plugin = try open()
      let before = try plugin.stats().memories
      do {
        let events = try plugin.channel("ticks").listen(
          PluginListenOptions(arguments: int32s(200, 5000, 0), items: 4))
        var count: UInt32 = 0
        for try await event in events {
          #expect(event.size == 5000)
          guard let memory = try event.memory() else {
            Issue.record("the event is not in memory")
            break
          }
          let last = memory.withUnsafeBytes { $0[4999] }
          #expect(last == UInt8(count & 255))
          count += 1
        }
        #expect(count == 200)
      }
      try await until { try plugin.stats().memories == before }
      try await plugin.close()
    }

    @Test("gets the end of a stream without a reader, and its events are released")
    func readerGone() async throws {
      let plugin = try open()
      let before = try plugin.stats().memories
      do {
        let events = try plugin.channel("ticks").listen(
          PluginListenOptions(arguments: int32s(0, 5000, 0), items: 4))
        for try await _ in events { break }
      }
      let cancels = try plugin.channel("cancels")
      try await until { number(try cancels.call()) == 1 }
      try await until { try plugin.stats().streams == 0 }
      try await until { try plugin.stats().memories == before }
      try await plugin.close()
    }

    @Test("has its error thrown when it refuses a listener or has no source")
    func refused() async throws {
      let plugin = try open()
      #expect(await code { _ = try plugin.channel("nobody").listen() } == .noHandler)
      let refused = try plugin.channel("ticks").listen()
      #expect(await code { for try await _ in refused {} } == .invalidArgument)
      for try await _ in refused {}
      #expect(
        await code { _ = try plugin.channel("ticks").listen(PluginListenOptions(items: 0)) }
          == .invalidArgument)
      #expect(
        await code { _ = try plugin.channel("ticks").listen(PluginListenOptions(bytes: 0)) }
          == .invalidArgument)
      try await plugin.close()
    }

    @Test("drops and counts events, or fails, when the queue is full and the policy says so")
    func policies() async throws {
      let plugin = try open()
      for policy in [WhenFull.dropOldest, .dropNewest] {
        let events = try plugin.channel("ticks").listen(
          PluginListenOptions(arguments: int32s(1000, 8, 0), items: 4, whenFull: policy))
        var seen = 0
        for try await _ in events { seen += 1 }
        #expect(seen + events.dropped == 1000)
      }
      let failing = try plugin.channel("ticks").listen(
        PluginListenOptions(arguments: int32s(0, 8, 0), items: 4, whenFull: .fail))
      #expect(
        await code {
          for try await _ in failing { await Task.yield() }
        } == .overflow)
      try await plugin.close()
    }

    @Test("ends its streams with closed when it is closed")
    func closing() async throws {
      let plugin = try open()
      let events = try plugin.channel("ticks").listen(
        PluginListenOptions(arguments: int32s(0, 8, 1000)))
      let reading = Task { for try await _ in events {} }
      try await until { try plugin.stats().events > 0 }
      try await plugin.close()
      let end = await code { try await reading.value }
      #expect(end == .closed || end == nil)
    }

    @Test("settles every reader once when it is cancelled at any moment", arguments: 0..<20)
    func anyMoment(yields: Int) async throws {
      let plugin = try open()
      let events = try plugin.channel("ticks").listen(
        PluginListenOptions(arguments: int32s(0, 5000, 0), items: 3))
      let readers = (0..<4).map { _ in Task { for try await _ in events {} } }
      for _ in 0..<yields * 5 { await Task.yield() }
      switch yields % 3 {
      case 0: for reader in readers { reader.cancel() }
      case 1: events.cancel()
      default: try await plugin.close()
      }
      if yields % 3 != 0 { for reader in readers { _ = await reader.result } }
      for reader in readers { reader.cancel() }
      for reader in readers { _ = await reader.result }
      events.cancel()
      try await plugin.close()
    }
  }
}
