// SPDX-License-Identifier: MIT OR Apache-2.0
import ClearwayThreads

/// Runs blocking and long work on threads of its own, off the main actor and off Swift's shared
/// threads.
///
/// Swift runs all tasks on one thread for each processor. Work that blocks such a thread, or
/// computes for long, delays every other task of the process. A pool has a bounded number of
/// threads and a bounded queue, and applies back-pressure when the queue is full. Work that awaits
/// needs no pool: use a `TaskGroup` or an actor.
///
/// ```swift
/// let pool = try WorkPool()
/// let size = try await pool.run(deadline: .seconds(2)) { signal in
///   try compress(file, while: { !signal.isCancelled })
/// }
/// ```
///
/// The closure moves to the thread, and its result moves back (`sending`): neither has to be
/// `Sendable`, and nothing is copied. Any task may call a pool. A pool without references ends its
/// idle threads.
public final class WorkPool: Sendable {
  /// The options of a pool.
  public struct Options: Sendable {
    /// Maximum number of threads: 1 to 1024.
    ///
    /// They start when needed. Default: the number of processors.
    public var threads: Int?
    /// Number of calls that may wait for a thread: 0 to 1,000,000.
    ///
    /// Default: 1024.
    public var queueMax: Int
    /// The policy for a call that meets a full queue.
    ///
    /// Default: ``WorkPool.WhenFull/wait``, or ``WorkPool.WhenFull/fail`` if `queueMax` is 0.
    public var whenFull: WorkPool.WhenFull?
    /// The clock of deadlines.
    ///
    /// Default: `ContinuousClock`.
    public var clock: any Clock<Duration>
    /// The name of the threads.
    public var name: String

    public init(
      threads: Int? = nil, queueMax: Int = 1024, whenFull: WorkPool.WhenFull? = nil,
      clock: any Clock<Duration> = ContinuousClock(), name: String = "clearway-pool"
    ) {
      self.threads = threads
      self.queueMax = queueMax
      self.whenFull = whenFull
      self.clock = clock
      self.name = name
    }
  }

  /// The counters of a pool.
  public struct Stats: Hashable, Sendable {
    /// Calls that wait for a thread.
    public internal(set) var queued = 0
    /// Calls whose work runs and whose caller waits.
    public internal(set) var running = 0
    /// Work that still runs although its call was cancelled or is past its deadline.
    ///
    /// It keeps its thread.
    public internal(set) var abandoned = 0
    /// Threads that exist.
    public internal(set) var threads = 0
    /// Calls whose work has returned or thrown in time.
    public internal(set) var completed = 0
    /// Calls that were dropped from a full queue.
    public internal(set) var dropped = 0
  }

  private let core: PoolCore

  /// Makes a pool.
  ///
  /// Starts no thread. Throws `invalid-argument`.
  public init(_ options: Options = Options()) throws {
    core = try PoolCore(options)
  }

  deinit { core.close() }

  /// Runs `work` on a thread of the pool and returns its result.
  ///
  /// If the task is cancelled or `deadline` passes, the call throws at once, also if the work goes
  /// on. Such work keeps its thread until it returns, because Swift cannot stop a thread; its
  /// result is dropped. Work that has not started is dropped with everything that it holds.
  ///
  /// - Parameter deadline: Maximum time from now until the result. Over 0.
  /// - Throws: The error of the work; `CancellationError`; a ``TaskError`` with `deadline`,
  ///   `queue-full`, `dropped`, `pool-closed`, `pool-terminated`, `worker-start-failed` or
  ///   `invalid-argument`.
  public func run<Value: ~Copyable>(
    deadline: Duration? = nil, isolation: isolated (any Actor)? = #isolation,
    _ work: sending @escaping (WorkSignal) throws -> sending Value
  ) async throws -> sending Value {
    let result = Box<Value>()
    let moved = Box(Work(run: work))
    try await perform(deadline: deadline) { signal in
      guard let work = moved.take() else { return }
      result.store(try work.run(signal))
    }
    return result.take()!
  }

  // swift-format-ignore
  /// Moves `input` to a thread of the pool, runs `work` with it, and returns the result.
  ///
  /// The input may be a type that cannot be copied. If the work does not start, the input is
  /// destroyed. Otherwise it works as ``run(deadline:isolation:_:)`` does.
  public func run<Input: ~Copyable, Value: ~Copyable>(
    moving input: consuming sending Input, deadline: Duration? = nil,
    isolation: isolated (any Actor)? = #isolation,
    _ work: sending @escaping (consuming sending Input, WorkSignal) throws -> sending Value
  ) async throws -> sending Value {
    let moving = Box(input)
    let result = Box<Value>()
    let moved = Box(MovingWork(run: work))
    try await perform(deadline: deadline) { signal in
      guard let work = moved.take(), let input = moving.take() else { return }
      result.store(try work.run(input, signal))
    }
    return result.take()!
  }

  /// Waits until a call would neither wait in a full queue nor be refused.
  ///
  /// A producer awaits it before its next call.
  ///
  /// - Throws: `CancellationError`, and a ``TaskError`` with `pool-closed`.
  public func room(isolation: isolated (any Actor)? = #isolation) async throws {
    let waiter = PoolWaiter()
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { core.waitForRoom(waiter, $0) }
    } onCancel: {
      core.fail(waiter, CancellationError())
    }
  }

  /// Takes no more calls, and waits until the accepted ones have ended.
  ///
  /// - Parameter limit: Maximum time to wait. After that, the pool is terminated. Nil waits without
  ///   limit.
  /// - Throws: A ``TaskError`` with `deadline` if work still runs then, and `CancellationError`;
  ///   the pool stays closed in both cases. A ``TaskError`` with `invalid-argument`; the pool then
  ///   stays open.
  public func close(within limit: Duration? = nil, isolation: isolated (any Actor)? = #isolation)
    async throws
  {
    let waiter = PoolWaiter()
    let timer = try core.timer(limit) { [core] in
      core.terminate()
      core.fail(waiter, TaskError(.deadline, "work still runs \(limit!) after the pool was closed"))
    } failed: { [core] in
      core.fail(waiter, $0)
    }
    defer { timer?.cancel() }
    core.close()
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { core.waitForEnd(waiter, $0) }
    } onCancel: {
      core.fail(waiter, CancellationError())
    }
  }

  /// Takes no more calls, and fails all pending ones with `pool-terminated`.
  ///
  /// Signals running work, and does not wait for it.
  public func terminate() { core.terminate() }

  /// The counters of this moment.
  public var stats: Stats { core.stats }

  private func perform(
    deadline: Duration?, isolation: isolated (any Actor)? = #isolation,
    _ body: @escaping @Sendable (WorkSignal) throws -> Void
  ) async throws {
    let call = PoolCall(body)
    let timer = try core.timer(deadline) { [core] in
      core.settle(call, TaskError(.deadline, "the work did not finish within \(deadline!)"))
    } failed: { [core] in
      core.settle(call, $0)
    }
    defer { timer?.cancel() }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { core.submit(call, $0) }
    } onCancel: {
      core.settle(call, CancellationError())
    }
  }
}

// Wrapped functions. Swift 6.0 cannot make a generic type of a function type with a `sending`
// result.
private struct Work<Value: ~Copyable> {
  let run: (WorkSignal) throws -> sending Value
}

// swift-format-ignore
private struct MovingWork<Input: ~Copyable, Value: ~Copyable> {
  let run: (consuming sending Input, WorkSignal) throws -> sending Value
}

/// An error of a pool, a deadline or a stream of this module.
///
/// Programs compare ``code``, never ``message``. Errors that work or a producer throws reach the
/// caller unchanged, and a cancelled call throws Swift's `CancellationError`.
public struct TaskError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A reason from the closed list of `spec/errors.md`, the same in every language.
  public enum Code: String, Sendable, CaseIterable {
    /// An argument or an option is out of its range.
    ///
    /// The message names it and its value.
    case invalidArgument = "invalid-argument"
    /// The queue was full, and the policy is ``WorkPool.WhenFull/fail``.
    case queueFull = "queue-full"
    /// The call was dropped from a full queue.
    case dropped
    /// The work did not finish before its deadline.
    case deadline
    /// The pool takes no new calls.
    case poolClosed = "pool-closed"
    /// The pool was terminated while the call was pending.
    case poolTerminated = "pool-terminated"
    /// The system has no thread left.
    case workerStartFailed = "worker-start-failed"
    /// Elements arrived faster than the reader took them, and the policy is
    /// ``WorkPool.WhenFull/fail``.
    case overflow
    /// The stream has ended, or its reader is gone.
    case released
  }

  public let code: Code
  public let message: String

  init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  public var description: String { "\(code.rawValue): \(message)" }

  static func invalid(_ name: String, mustBe rule: String, _ value: some Any) -> TaskError {
    TaskError(.invalidArgument, "\(name) must be \(rule): \(name)=\(value)")
  }
}

extension WorkPool {
  /// The policy for what arrives while a queue is full.
  public enum WhenFull: String, Sendable, CaseIterable {
    /// The sender waits.
    ///
    /// Nothing is lost.
    case wait
    /// A pool fails the new call with `queue-full`.
    ///
    /// A stream ends with `overflow`.
    case fail
    /// The oldest waiting item is dropped.
    case dropOldest
    /// The new item is dropped.
    case dropNewest
  }
}

/// Shows work on a pool's thread that its caller no longer waits.
///
/// The work runs outside every `Task`, where `Task.isCancelled` is always false. Work that takes
/// long reads this signal instead.
public final class WorkSignal: Sendable {
  private let cancelled = Locked(false)

  init() {}

  /// Whether the call was cancelled, has passed its deadline, or belongs to a terminated pool.
  public var isCancelled: Bool { cancelled.with { $0 } }

  /// Throws `CancellationError` if the caller no longer waits.
  public func check() throws {
    if isCancelled { throw CancellationError() }
  }

  func cancel() { cancelled.with { $0 = true } }
}

/// Holds one value while it moves to another thread.
///
/// The owner of the call orders all accesses.
final class Box<Value: ~Copyable>: @unchecked Sendable {
  private var value: Value?

  init() { value = nil }

  // swift-format 6.0 joins `sending` and the type of a consuming parameter.
  // swift-format-ignore
  init(_ value: consuming sending Value) { self.value = consume value }

  // swift-format-ignore
  func store(_ value: consuming sending Value) { self.value = consume value }

  /// Moves the value out.
  ///
  /// Returns nil if there is none.
  func take() -> sending Value? {
    // The box gives up its only reference, so the value leaves the region of the box.
    nonisolated(unsafe) var moved: Value? = nil
    swap(&moved, &value)
    return moved
  }
}
