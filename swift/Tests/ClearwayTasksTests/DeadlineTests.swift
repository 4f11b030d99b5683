// SPDX-License-Identifier: MIT OR Apache-2.0
@testable import ClearwayTasks
import ClearwayTasks
import ClearwayThreads
import Testing

@Suite("withDeadline", .timeLimit(.minutes(2)))
struct DeadlineTests {
  @Test("returns the result when the operation ends in time")
  func inTime() async throws {
    let clock = ManualClock()
    #expect(try await withDeadline(.seconds(1), clock: clock) { 5 } == 5)
    await until { clock.sleepers == 0 }
  }

  @Test("throws the error of the operation")
  func failure() async throws {
    await #expect(throws: Broken.self) {
      try await withDeadline(.seconds(1), clock: ManualClock()) { throw Broken() }
    }
  }

  @Test("throws deadline and cancels the operation when the time is over")
  func late() async throws {
    let clock = ManualClock()
    let sawCancel = Locked(false)
    let call = Task {
      try await withDeadline(.seconds(1), clock: clock) {
        while !Task.isCancelled { await Task.yield() }
        sawCancel.with { $0 = true }
      }
    }
    await clock.untilSleepers(1)
    clock.advance(by: .seconds(1))
    #expect(await code { try await call.value } == .deadline)
    await until { sawCancel.with { $0 } }
  }

  @Test("returns at its deadline also when the operation ignores its cancellation")
  func stubborn() async throws {
    let clock = ManualClock()
    let (stream, end) = AsyncStream.makeStream(of: Int.self)
    let census = Census()
    let call = Task {
      try await withDeadline(.seconds(1), clock: clock) {
        let held = census.object()
        // A task of its own does not see the cancellation.
        await Task { for await _ in stream {} }.value
        return held
      }
    }
    await clock.untilSleepers(1)
    await until { census.alive == 1 }
    clock.advance(by: .seconds(1))
    #expect(await code { _ = try await call.value } == .deadline)
    end.finish()
    await until { census.alive == 0 }
  }

  @Test("throws CancellationError at once when its task is cancelled")
  func cancelled() async throws {
    let clock = ManualClock()
    let (stream, end) = AsyncStream.makeStream(of: Int.self)
    let call = Task {
      try await withDeadline(.seconds(1), clock: clock) {
        await Task { for await _ in stream {} }.value
      }
    }
    await clock.untilSleepers(1)
    call.cancel()
    #expect(await isCancelled(call))
    end.finish()
  }
}

@Suite("The examples of docs/tasks.md", .timeLimit(.minutes(2)))
struct ExampleTests {
  private func checksum(_ bytes: [UInt8], while isWanted: () -> Bool) -> Int {
    bytes.reduce(0) { isWanted() ? $0 + Int($1) : $0 }
  }

  @Test("run")
  func run() async throws {
    let bytes = [UInt8](repeating: 2, count: 1000)
    // #region pool
    let pool = try WorkPool(.init(threads: 2, queueMax: 100, whenFull: .fail))
    let sum = try await pool.run(moving: bytes, deadline: .seconds(60)) { bytes, signal in
      checksum(bytes, while: { !signal.isCancelled })
    }
    // #endregion pool
    #expect(sum == 2000)
    // #region stream
    let squares = try CreditStream(itemsMax: 16) { sink in
      for number in 1...1000 { try await sink.send(number * number) }
    }
    var total = 0
    for try await square in squares { total += square }
    // #endregion stream
    #expect(total == 333_833_500)
    // #region deadline
    let answer = try await withDeadline(.seconds(60)) { try await pool.run { _ in 42 } }
    // #endregion deadline
    #expect(answer == 42)
    try await pool.close()
  }
}
