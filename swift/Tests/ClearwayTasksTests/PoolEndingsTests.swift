// SPDX-License-Identifier: MIT OR Apache-2.0
import ClearwayThreads
import Testing

@testable import ClearwayTasks

@Suite("A call of a pool", .timeLimit(.minutes(2)))
struct PoolEndingsTests {
  /// A pool of one thread that work occupies until the gate opens.
  private func occupied(clock: any Clock<Duration> = ManualClock()) async throws -> (
    WorkPool, Gate, Task<Void, any Error>
  ) {
    let pool = try WorkPool(.init(threads: 1, clock: clock))
    let gate = Gate()
    let running = Task { try await pool.run { _ in gate.pass() } }
    await until { gate.waiting == 1 }
    return (pool, gate, running)
  }

  @Test("is dropped with everything that it holds when it is cancelled while it waits")
  func cancelledInQueue() async throws {
    let (pool, gate, running) = try await occupied()
    let census = Census()
    let ran = Locked(false)
    let call = Task {
      let held = census.object()
      try await pool.run(moving: held) { _, _ in ran.with { $0 = true } }
    }
    await until { pool.stats.queued == 1 }
    call.cancel()
    #expect(await isCancelled(call))
    #expect(census.alive == 0)
    gate.open()
    try await running.value
    try await pool.close()
    #expect(!ran.with { $0 })
  }

  @Test("throws at once and signals its work when it is cancelled while it runs")
  func cancelledWhileRunning() async throws {
    let pool = try WorkPool(.init(threads: 1))
    let gate = Gate()
    let seen = Locked(false)
    let census = Census()
    let call = Task {
      try await pool.run { signal in
        gate.pass()
        seen.with { $0 = signal.isCancelled }
        return census.object()
      }
    }
    await until { gate.waiting == 1 }
    call.cancel()
    #expect(await isCancelled(call))
    #expect(pool.stats.abandoned == 1)
    #expect(pool.stats.threads == 1)
    gate.open()
    try await pool.close()
    #expect(seen.with { $0 })
    #expect(pool.stats.abandoned == 0)
    await until { census.alive == 0 }
  }

  @Test("does not start when its task is cancelled already")
  func cancelledBefore() async throws {
    let pool = try WorkPool(.init(threads: 1))
    let gate = Gate()
    let call = Task {
      while !Task.isCancelled { await Task.yield() }
      try await pool.run { _ in gate.pass() }
    }
    call.cancel()
    #expect(await isCancelled(call))
    #expect(pool.stats.threads == 0)
  }

  @Test("fails with deadline while it waits, and never runs")
  func deadlineInQueue() async throws {
    let clock = ManualClock()
    let (pool, gate, running) = try await occupied(clock: clock)
    let ran = Locked(false)
    let call = Task { try await pool.run(deadline: .seconds(1)) { _ in ran.with { $0 = true } } }
    await clock.untilSleepers(1)
    clock.advance(by: .milliseconds(999))
    #expect(clock.sleepers == 1)
    clock.advance(by: .milliseconds(1))
    #expect(await code { try await call.value } == .deadline)
    gate.open()
    try await running.value
    try await pool.close()
    #expect(!ran.with { $0 })
  }

  @Test("fails with deadline while it runs, and its work keeps the thread until it returns")
  func deadlineWhileRunning() async throws {
    let clock = ManualClock()
    let pool = try WorkPool(.init(threads: 1, clock: clock))
    let gate = Gate()
    let call = Task { try await pool.run(deadline: .seconds(1)) { _ in gate.pass() } }
    await until { gate.waiting == 1 }
    await clock.untilSleepers(1)
    clock.advance(by: .seconds(1))
    #expect(await code { try await call.value } == .deadline)
    #expect(pool.stats.abandoned == 1)
    gate.open()
    try await pool.close()
  }

  @Test("leaves no sleeper on the clock when its work returns in time")
  func noTimerLeft() async throws {
    let clock = ManualClock()
    let pool = try WorkPool(.init(threads: 1, clock: clock))
    let gate = Gate()
    let call = Task { try await pool.run(deadline: .seconds(1)) { _ in gate.pass() } }
    await clock.untilSleepers(1)
    gate.open()
    try await call.value
    await until { clock.sleepers == 0 }
  }

  private struct BrokenClock: Clock {
    var now: ContinuousClock.Instant { ContinuousClock().now }
    var minimumResolution: Duration { .nanoseconds(1) }
    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
      throw Broken()
    }
  }

  @Test("fails with the error of its clock when the clock throws")
  func brokenClock() async throws {
    let (pool, gate, running) = try await occupied(clock: BrokenClock())
    await #expect(throws: Broken.self) { try await pool.run(deadline: .seconds(1)) { _ in } }
    gate.open()
    try await running.value
  }

  @Test(
    "is refused when its deadline is out of range",
    arguments: [Duration.zero, .seconds(-1), .seconds(2_000_000_000)])
  func badDeadline(limit: Duration) async throws {
    let pool = try WorkPool(.init(threads: 1))
    #expect(await code { try await pool.run(deadline: limit) { _ in } } == .invalidArgument)
  }

  @Test("is finished by a pool that closes, and refused afterwards")
  func closing() async throws {
    let (pool, gate, running) = try await occupied()
    let queued = Task { try await pool.run { _ in 5 } }
    await until { pool.stats.queued == 1 }
    let closing = Task { try await pool.close() }
    while await code({ try await pool.room() }) != .poolClosed { await Task.yield() }
    #expect(await code { try await pool.run { _ in } } == .poolClosed)
    gate.open()
    try await closing.value
    try await running.value
    #expect(try await queued.value == 5)
    #expect(pool.stats.threads == 0)
  }

  @Test("fails with pool-terminated when closing takes too long")
  func closingTooLong() async throws {
    let clock = ManualClock()
    let (pool, gate, running) = try await occupied(clock: clock)
    let queued = Task { try await pool.run { _ in 5 } }
    await until { pool.stats.queued == 1 }
    let closing = Task { try await pool.close(within: .seconds(1)) }
    await clock.untilSleepers(1)
    clock.advance(by: .seconds(1))
    #expect(await code { try await closing.value } == .deadline)
    #expect(await code { try await running.value } == .poolTerminated)
    #expect(await code { _ = try await queued.value } == .poolTerminated)
    gate.open()
    await until { pool.stats.threads == 0 }
  }

  @Test("settles once when it is cancelled at any moment", arguments: 0..<40)
  func cancelledAtAnyMoment(yields: Int) async throws {
    let pool = try WorkPool(
      .init(threads: 2, queueMax: 3, whenFull: WorkPool.WhenFull.allCases[yields % 4]))
    let census = Census()
    let calls = (0..<8).map { number in
      Task {
        try await pool.run(moving: census.object()) { object, signal in
          if number % 3 == 0 { throw Broken() }
          return object
        }
      }
    }
    for _ in 0..<yields { await Task.yield() }
    for call in calls where yields % 2 == 0 { call.cancel() }
    if yields % 5 == 0 { pool.terminate() }
    for call in calls { _ = await call.result }
    try await pool.close()
    let stats = pool.stats
    #expect([stats.queued, stats.running, stats.abandoned, stats.threads] == [0, 0, 0, 0])
  }

  @Test("leaves no object when it is cancelled at any moment", arguments: 0..<20)
  func nothingLeft(yields: Int) async throws {
    let census = Census()
    do {
      let pool = try WorkPool(.init(threads: 2))
      let calls = (0..<8).map { _ in
        Task { _ = try await pool.run(moving: census.object()) { object, _ in object } }
      }
      for _ in 0..<yields { await Task.yield() }
      for call in calls { call.cancel() }
      for call in calls { _ = await call.result }
      try await pool.close()
    }
    await until { census.alive == 0 }
  }
}
