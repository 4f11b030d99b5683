// SPDX-License-Identifier: MIT OR Apache-2.0
import ClearwayChannel
import Foundation
import Testing

@testable import ClearwayPlugin

extension PluginTests {
  @Suite("when memory is lent")
  struct Memory {
    @Test("fills memory that both sides see, and copies no byte of it")
    func shared() async throws {
      let plugin = try open()
      let before = try plugin.stats()
      do {
        let memory = try plugin.allocate(1 << 20, zeroed: true)
        #expect(memory.withUnsafeBytes { $0.allSatisfy { $0 == 0 } })
        try plugin.channel("fill").call(memory) { #expect($0 == nil) }
        #expect(memory.withUnsafeBytes { $0.allSatisfy { $0 == 1 } })
        try await plugin.channel("pool/fill").send(memory).release()
        #expect(memory.withUnsafeBytes { $0.allSatisfy { $0 == 2 } })
        #expect(try plugin.stats().memories == before.memories + 1)
      }
      let after = try plugin.stats()
      #expect(after.memories == before.memories)
      #expect(after.copiedBytes == before.copiedBytes)
      try await plugin.close()
    }

    @Test("gives memory back in its answers, which own it")
    func answers() async throws {
      let plugin = try open()
      let before = try plugin.stats().memories
      do {
        let memory = try plugin.allocate(5000)
        memory.withUnsafeMutableBytes { $0[0] = 77 }
        let same = try plugin.channel("echo").callForMessage(memory)
        memory.release()
        #expect(same.withUnsafeBytes { $0[0] } == 77)
        let answer = try await plugin.channel("pool/make").send(int32s(9000))
        #expect(answer.size == 9000)
        guard let kept = try answer.memory() else {
          Issue.record("the answer is not in memory")
          return
        }
        answer.release()
        #expect(kept.withUnsafeBytes { $0[8999] } == 7)
        let back = try plugin.channel("echo").call(kept) { $0!.count }
        #expect(back == 9000)
      }
      #expect(try plugin.stats().memories == before)
      try await plugin.close()
    }

    @Test("sends attached memory in both directions")
    func attachments() async throws {
      let plugin = try open()
      let message = try plugin.channel("attach").callForMessage(int32s(64))
      #expect(message.attachmentCount > 0)
      let attached = try message.attachment(at: 0)
      #expect(attached.size > 0)
      #expect(
        await code { try message.attachment(at: message.attachmentCount).release() }
          == .invalidArgument)
      #expect(await code { try message.attachment(at: -1).release() } == .invalidArgument)
      try await plugin.close()
    }

    @Test("keeps a buffer of Swift alive until it has returned it")
    func host() async throws {
      let plugin = try open()
      let buffer = try HostBuffer(size: 4096)
      do {
        let lent = try plugin.lend(buffer)
        try plugin.channel("keep").call(lent) { _ in }
      }
      #expect(buffer.loans == 1)
      _ = try plugin.channel("drop").call()
      await buffer.returned()
      #expect(buffer.loans == 0)
      #expect(buffer.withUnsafeMutableBytes { $0[0] } == 99)
      await buffer.returned()
      try await plugin.close()
    }

    @Test("returns lent buffers of many tasks, each once")
    func manyLoans() async throws {
      let plugin = try open()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<16 {
          group.addTask {
            for _ in 0..<50 {
              let buffer = try HostBuffer(size: 100)
              do {
                let lent = try plugin.lend(buffer)
                try await plugin.channel("pool/fill").send(lent).release()
              }
              await buffer.returned()
              #expect(buffer.withUnsafeMutableBytes { $0[99] } == 1)
            }
          }
        }
        try await group.waitForAll()
      }
      try await plugin.close()
      await until { threads(named: "clearway-plugin") == 0 }
    }

    @Test("refuses sizes out of range")
    func sizes() async throws {
      let plugin = try open()
      #expect(await code { try plugin.allocate(-1).release() } == .invalidArgument)
      #expect(await code { try plugin.allocate(Int.max).release() } == .tooLarge)
      #expect(await code { _ = try HostBuffer(size: -1) } == .invalidArgument)
      let empty = try HostBuffer(size: 0)
      try plugin.lend(empty).release()
      await empty.returned()
      try await plugin.close()
    }

    @Test(
      "answers each wrong call of a misbehaving plugin with a typed error",
      arguments: ["c", "rust"])
    func misbehaving(language: String) async throws {
      let plugin = try Plugin(Built.example(language, "misbehave"), options: options)
      #expect(await code { _ = try plugin.channel("garbage/status").call() } == .badAnswer)
      if language == "rust" {
        #expect(await code { _ = try plugin.channel("panic").call() } == .panicked)
      }
      for name in ["garbage/length", "garbage/memory", "garbage/null"] {
        #expect(try plugin.channel(name).call()?.isEmpty == false)
      }
      #expect(try plugin.channel("reply/twice").call([5]) == [5])
      #expect(try await plugin.channel("reply/thread").send().isNull)
      let never = Task { try await plugin.channel("reply/never").send().release() }
      let events = try plugin.channel("events/after-end").listen()
      var count = 0
      for try await event in events {
        #expect(event.bytes == Array("last".utf8))
        count += 1
      }
      #expect(count == 1)
      try await until { try plugin.stats().calls == 1 }
      try await plugin.close()
      #expect(await code { try await never.value } == .closed)
    }
  }
}
