// SPDX-License-Identifier: MIT OR Apache-2.0
import ClearwayThreads
import Testing

@testable import ClearwayTasks

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
