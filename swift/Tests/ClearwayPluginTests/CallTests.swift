// SPDX-License-Identifier: MIT OR Apache-2.0
import ClearwayChannel
import Foundation
import Testing

@testable import ClearwayPlugin

extension PluginTests {
  @Suite("when it is called")
  struct Call {
    @Test("answers direct calls of every size with the same bytes")
    func echo() async throws {
      let plugin = try open()
      let echo = try plugin.channel("echo")
      for size in [0, 1, 63, 64, 255, 256, 257, 5000, 1 << 20] {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
        #expect(try echo.call(bytes) == bytes)
        let lent = try bytes.withUnsafeBytes { try echo.call($0) { Array($0!) } }
        #expect(lent == bytes)
      }
      #expect(try echo.call() == nil)
      #expect(try echo.call(nil as UnsafeRawBufferPointer?) { $0 == nil })
      try await plugin.close()
    }

    @Test("sees the caller's bytes, not a copy, in a direct call")
    func sameBytes() async throws {
      let plugin = try open()
      var bytes = [UInt8](repeating: 4, count: 1000)
      try bytes.withUnsafeMutableBytes { bytes in
        try plugin.channel("fill").call(UnsafeRawBufferPointer(bytes)) { #expect($0 == nil) }
      }
      #expect(bytes == [UInt8](repeating: 5, count: 1000))
      try await plugin.close()
    }

    @Test("answers on its pool and in its queue")
    func pool() async throws {
      let plugin = try open()
      for name in ["echo", "pool/echo", "serial/echo", "zero/echo"] {
        #expect(try await plugin.channel(name).send([1, 2, 3]).bytes == [1, 2, 3])
        #expect(try await plugin.channel(name).send([]).bytes == [])
        #expect(try await plugin.channel(name).send().isNull)
      }
      try await plugin.close()
    }

    @Test("gives typed errors for handlers that fail, that are missing and that break the rules")
    func errors() async throws {
      let plugin = try open()
      for (name, expected) in [
        ("fail", ClearwayError.Code.failed), ("nobody", .noHandler), ("unknown", .notImplemented),
        ("negative", .badAnswer), ("pool/fail", .failed),
      ] {
        #expect(await code { _ = try await plugin.channel(name).send() } == expected)
      }
      for (name, expected) in [
        ("fail", ClearwayError.Code.failed), ("nobody", .noHandler), ("unknown", .notImplemented),
        ("negative", .badAnswer), ("pool/echo", .notDirect), ("never", .notDirect),
      ] {
        #expect(await code { _ = try plugin.channel(name).call() } == expected)
      }
      #expect(await code { _ = try plugin.channel("") } == .invalidArgument)
      #expect(
        await code { _ = try plugin.channel(String(repeating: "x", count: 257)) }
          == .invalidArgument)
      try await plugin.close()
    }

    @Test("throws the error of the caller's own function, and releases the answer")
    func bodyThrows() async throws {
      struct Broken: Error {}
      let plugin = try open()
      let before = try plugin.stats().memories
      let size = int32s(100_000)
      #expect(throws: Broken.self) {
        try size.withUnsafeBytes { try plugin.channel("make").call($0) { _ in throw Broken() } }
      }
      try await until { try plugin.stats().memories == before }
      try await plugin.close()
    }

    @Test("is called again by a function that gets its answer")
    func reentrant() async throws {
      let plugin = try open()
      let echo = try plugin.channel("echo")
      func deep(_ depth: UInt8) throws -> UInt8 {
        try [depth].withUnsafeBytes { bytes in
          try echo.call(bytes) { depth == 0 ? $0![0] : try deep(depth - 1) + $0![0] }
        }
      }
      #expect(try deep(20) == 210)
      try await plugin.close()
    }

    @Test("gets the cancellation of a call, which throws at once")
    func cancelled() async throws {
      let plugin = try open()
      let call = Task { try await plugin.channel("never").send().release() }
      try await until { try plugin.stats().calls == 1 }
      call.cancel()
      #expect(await isCancelled(call))
      try await plugin.close()
    }

    @Test("settles each call once when it is cancelled at any moment", arguments: 0..<20)
    func anyMoment(yields: Int) async throws {
      let plugin = try open()
      let calls = (0..<16).map { _ in
        Task { try await plugin.channel("pool/echo").send([UInt8](repeating: 1, count: 5000)).size }
      }
      for _ in 0..<yields { await Task.yield() }
      for (at, call) in calls.enumerated() where at % 2 == yields % 2 { call.cancel() }
      for call in calls { _ = await call.result }
      try await until { try plugin.stats().calls == 0 }
      if yields % 3 == 0 {
        let late = (0..<8).map { _ in Task { try await plugin.channel("pool/echo").send([1]).size }
        }
        try await plugin.close()
        for call in late {
          let result = await call.result
          if case .failure(let error) = result {
            #expect((error as? ClearwayError)?.code == .closed)
          }
        }
      }
    }

    @Test("fails calls that wait when it is closed, and calls after that")
    func closing() async throws {
      let plugin = try open()
      let channel = try plugin.channel("echo")
      let call = Task { try await plugin.channel("never").send().release() }
      try await until { try plugin.stats().calls == 1 }
      try await plugin.close()
      #expect(await code { try await call.value } == .closed)
      #expect(await code { _ = try channel.call([1]) } == .closed)
      #expect(await code { _ = try await channel.send([1]) } == .closed)
      #expect(await code { _ = try channel.listen() } == .closed)
      #expect(await code { _ = try plugin.channel("x") } == .closed)
      #expect(await code { _ = try plugin.allocate(1) } == .closed)
      #expect(await code { _ = try plugin.stats() } == .closed)
      try await plugin.close()
    }

    @Test("is cancelled, and can be closed again, when a handler does not end in time")
    func closingTooLong() async throws {
      let plugin = try open()
      let buffer = try HostBuffer(size: 4)
      let call = Task {
        let lent = try plugin.lend(buffer)
        try await plugin.channel("pool/hold").send(lent).release()
      }
      await until {
        buffer.withUnsafeMutableBytes { $0.loadUnaligned(fromByteOffset: 1, as: UInt8.self) == 1 }
      }
      #expect(await code { try await plugin.close(within: .zero) } == .cancelled)
      buffer.withUnsafeMutableBytes { $0[0] = 1 }
      try await plugin.close()
      _ = await call.result
      await buffer.returned()
      #expect(await code { try await plugin.close(within: .seconds(-1)) } == .invalidArgument)
    }

    @Test("asks Swift, which answers, throws, hangs, calls back and has no handler")
    func asks() async throws {
      struct Broken: Error {}
      let plugin = try open()
      let ask = try plugin.channel("ask")
      #expect(await code { _ = try await ask.send([1]) } == .noHandler)
      var handler = try plugin.handle("probe/asked") { $0.bytes.map { $0 + [9] } }
      #expect(try await ask.send([1]).bytes == [1, 9])
      #expect(await code { try plugin.handle("probe/asked") { _ in nil } } == .invalidArgument)
      handler.remove()
      handler = try plugin.handle("probe/asked") { _ in throw Broken() }
      #expect(await code { _ = try await ask.send([1]) } == .failed)
      handler.remove()
      handler = try plugin.handle("probe/asked") { _ in
        throw ClearwayError(.failed, String(repeating: "x", count: 100_000))
      }
      #expect(await code { _ = try await ask.send([1]) } == .failed)
      handler.remove()
      // A composed letter and the same letter with a combining mark are two names.
      for name in ["\u{e9}", "e\u{301}"] { try plugin.handle(name) { _ in nil } }
      let echo = try plugin.channel("pool/echo")
      handler = try plugin.handle("probe/asked") { message in
        try await echo.send(message.bytes).bytes
      }
      #expect(try await ask.send([7]).bytes == [7])
      handler.remove()
      let (cancellations, cancelled) = AsyncStream.makeStream(of: Void.self)
      try plugin.handle("probe/asked") { _ in
        defer { cancelled.finish() }
        try await Task.sleep(for: .seconds(1_000_000))
        return nil
      }
      let hanging = Task { try await ask.send([1]).release() }
      // The call of Swift, and the plugin's own call.
      try await until { try plugin.stats().calls == 2 }
      try await plugin.close()
      #expect(await code { try await hanging.value } == .closed)
      // The handler ends, too, because no one waits for its answer.
      for await _ in cancellations {}
    }

    @Test("has its log lines in a stream")
    func logs() async throws {
      let plugin = try open()
      _ = try plugin.channel("say").call(Array("hello".utf8))
      for await line in plugin.logs {
        #expect(line == LogLine(level: .info, text: "hello"))
        break
      }
      try await plugin.close()
      for await _ in plugin.logs {}
    }
  }
}
