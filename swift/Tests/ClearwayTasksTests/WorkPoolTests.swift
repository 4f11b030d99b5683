// SPDX-License-Identifier: MIT OR Apache-2.0
import ClearwayThreads
import Testing

@testable import ClearwayTasks

@Suite("A pool", .timeLimit(.minutes(2)))
struct WorkPoolTests {
  /// A value that cannot be copied, and not be shared.
  private struct Ticket: ~Copyable {
    var number: Int
  }

  private final class Unshared {
    var number = 0
  }

  @Test("returns the result of its work")
  func result() async throws {
    let pool = try WorkPool(.init(threads: 2))
    #expect(try await pool.run { _ in 6 * 7 } == 42)
  }

  @Test("throws the error of its work unchanged")
  func failure() async throws {
    let pool = try WorkPool(.init(threads: 1))
    await #expect(throws: Broken.self) { try await pool.run { _ in throw Broken() } }
    #expect(try await pool.run { _ in 1 } == 1)
  }

  @Test("moves values in and out that cannot be copied")
  func moves() async throws {
    let pool = try WorkPool(.init(threads: 1))
    let back = try await pool.run(moving: Ticket(number: 7)) { ticket, _ in
      Ticket(number: ticket.number + 1)
    }
    #expect(back.number == 8)
  }

  @Test("moves objects in and out that are not Sendable, and copies nothing")
  func movesObjects() async throws {
    let pool = try WorkPool(.init(threads: 1))
    let object = Unshared()
    let identity = ObjectIdentifier(object)
    let back = try await pool.run(moving: object) { object, _ in
      object.number = 5
      return object
    }
    #expect(back.number == 5)
    #expect(ObjectIdentifier(back) == identity)
  }

  @Test("runs its work on as many threads as the option says, and no more")
  func bound() async throws {
    let pool = try WorkPool(.init(threads: 3))
    let gate = Gate()
    let calls = (0..<10).map { _ in Task { try await pool.run { _ in gate.pass() } } }
    await until { pool.stats.queued == 7 }
    #expect(gate.waiting <= 3)
    await until { gate.waiting == 3 }
    #expect(pool.stats.threads == 3)
    gate.open()
    for call in calls { try await call.value }
    #expect(pool.stats.completed == 10)
  }

  @Test("keeps the order of calls on one thread")
  func order() async throws {
    let pool = try WorkPool(.init(threads: 1))
    let gate = Gate()
    let order = Locked<[Int]>([])
    let first = Task { try await pool.run { _ in gate.pass() } }
    await until { gate.waiting == 1 }
    var calls: [Task<Void, any Error>] = []
    for number in 0..<20 {
      calls.append(Task { try await pool.run { _ in order.with { $0.append(number) } } })
      await until { pool.stats.queued == number + 1 }
    }
    gate.open()
    try await first.value
    for call in calls { try await call.value }
    #expect(order.with { $0 } == Array(0..<20))
  }

  @Test("takes a call from work that it runs", .timeLimit(.minutes(1)))
  func reentrant() async throws {
    let pool = try WorkPool(.init(threads: 1))
    let inner = try await pool.run { _ in Task { try await pool.run { _ in 3 } } }
    #expect(try await inner.value == 3)
  }

  @Test("ends its threads when nothing refers to it")
  func forgotten() async throws {
    weak var core: PoolCore?
    do {
      let pool = try WorkPool(.init(threads: 2))
      try await pool.run { _ in }
      core = Mirror(reflecting: pool).descendant("core") as? PoolCore
      #expect(core != nil)
    }
    await until { core == nil }
  }

  // MARK: A full queue

  /// Occupies the only thread of a pool, and fills its queue of one.
  private func full(_ whenFull: WorkPool.WhenFull) async throws -> (
    WorkPool, Gate, [Task<Int, any Error>]
  ) {
    let pool = try WorkPool(.init(threads: 1, queueMax: 1, whenFull: whenFull))
    let gate = Gate()
    let running = Task {
      try await pool.run { _ in
        gate.pass()
        return 0
      }
    }
    await until { gate.waiting == 1 }
    let waiting = Task { try await pool.run { _ in 1 } }
    await until { pool.stats.queued == 1 }
    return (pool, gate, [running, waiting])
  }

  @Test("fails a call with queue-full when the queue is full and the policy is fail")
  func fails() async throws {
    let (pool, gate, calls) = try await full(.fail)
    #expect(await code { _ = try await pool.run { _ in 2 } } == .queueFull)
    gate.open()
    #expect(try await calls[1].value == 1)
  }

  @Test("drops the call that waited longest when the policy is dropOldest")
  func dropsOldest() async throws {
    let (pool, gate, calls) = try await full(.dropOldest)
    let newest = Task { try await pool.run { _ in 2 } }
    #expect(await code { _ = try await calls[1].value } == .dropped)
    gate.open()
    #expect(try await newest.value == 2)
    #expect(pool.stats.dropped == 1)
  }

  @Test("drops the new call when the policy is dropNewest")
  func dropsNewest() async throws {
    let (pool, gate, calls) = try await full(.dropNewest)
    #expect(await code { _ = try await pool.run { _ in 2 } } == .dropped)
    gate.open()
    #expect(try await calls[1].value == 1)
  }

  @Test("lets calls wait when the policy is wait, and says when there is room")
  func waits() async throws {
    let (pool, gate, calls) = try await full(.wait)
    let more = Task { try await pool.run { _ in 2 } }
    await until { pool.stats.queued == 2 }
    let room = Task { try await pool.room() }
    let given = Task { try await pool.room() }
    given.cancel()
    #expect(await isCancelled(given))
    gate.open()
    try await room.value
    #expect(try await calls[1].value == 1)
    #expect(try await more.value == 2)
  }

  @Test("takes a call only with a free thread when the queue has no places")
  func noQueue() async throws {
    let pool = try WorkPool(.init(threads: 1, queueMax: 0))
    let gate = Gate()
    let running = Task { try await pool.run { _ in gate.pass() } }
    await until { gate.waiting == 1 }
    #expect(await code { try await pool.run { _ in } } == .queueFull)
    gate.open()
    try await running.value
    try await pool.room()
    try await pool.run { _ in }
  }

  @Test("still takes calls after close(within: .zero), which throws")
  func closedWithoutLimit() async throws {
    let pool = try WorkPool(.init(threads: 1))
    #expect(await code { try await pool.close(within: .zero) } == .invalidArgument)
    #expect(try await pool.run { _ in 1 } == 1)
    try await pool.close()
  }

  @Test(
    "refuses options out of range with their name and value",
    arguments: [
      (WorkPool.Options(threads: 0), "threads must be 1 to 1024: threads=0"),
      (WorkPool.Options(threads: 1025), "threads must be 1 to 1024: threads=1025"),
      (WorkPool.Options(queueMax: -1), "queueMax must be 0 to 1000000: queueMax=-1"),
      (
        WorkPool.Options(queueMax: 0, whenFull: .wait),
        "whenFull must be another value if queueMax is 0: whenFull=wait"
      ),
    ])
  func options(options: WorkPool.Options, message: String) throws {
    #expect(throws: TaskError(.invalidArgument, message)) { try WorkPool(options) }
  }
}
