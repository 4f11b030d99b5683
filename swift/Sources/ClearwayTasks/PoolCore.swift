// SPDX-License-Identifier: MIT OR Apache-2.0
import ClearwayThreads

/// The state of a pool, which its threads keep alive.
///
/// No code of the application runs under the lock.
///
/// ```
/// new ──submit──► queued ──next──► running ──finished──► settled
///  │ settle: early   │ settle, drop   │ settle: abandoned, the work keeps its thread
///  └────────────────►└───────────────►└──────────────► settled
/// ```
final class PoolCore: Sendable {
  private struct State: @unchecked Sendable {
    var queue = CallList()
    var running = CallList()
    var rooms: [PoolWaiter] = []
    var ends: [PoolWaiter] = []
    var stats = WorkPool.Stats()
    /// Threads that wait for a call, and threads that start.
    var idle = 0
    var isClosed = false
    var after = Aftermath()
  }

  private let state = Locked(State())
  private let threadsMax: Int
  private let queueMax: Int
  private let whenFull: WorkPool.WhenFull
  private let clock: any Clock<Duration>
  private let name: String

  init(_ options: WorkPool.Options) throws {
    threadsMax = options.threads ?? processorCount()
    queueMax = options.queueMax
    whenFull = options.whenFull ?? (queueMax == 0 ? .fail : .wait)
    clock = options.clock
    name = options.name
    guard (1...1024).contains(threadsMax) else {
      throw TaskError.invalid("threads", mustBe: "1 to 1024", threadsMax)
    }
    guard (0...1_000_000).contains(queueMax) else {
      throw TaskError.invalid("queueMax", mustBe: "0 to 1000000", queueMax)
    }
    if queueMax == 0, whenFull == .wait {
      throw TaskError.invalid(
        "whenFull", mustBe: "another value if queueMax is 0", whenFull.rawValue)
    }
  }

  var stats: WorkPool.Stats {
    state.with { state in
      var stats = state.stats
      stats.queued = state.queue.count
      stats.running = state.running.count
      return stats
    }
  }

  /// Changes the state under the lock.
  ///
  /// Then resumes tasks and destroys values, without the lock.
  private func change(_ body: (inout State) -> Void) {
    var after = state.with { state in
      body(&state)
      let after = state.after
      state.after = Aftermath()
      return after
    }
    after.happen()
  }

  // MARK: Calls

  func submit(_ call: PoolCall, _ continuation: CheckedContinuation<Void, any Error>) {
    change { state in
      call.continuation = continuation
      if let error = call.early ?? refusal(of: call, &state) { return end(call, error, &state) }
      call.phase = .queued
      state.queue.append(call)
      self.state.lock.wakeOne()
    }
  }

  /// Makes room for a call.
  ///
  /// Returns an error if the pool does not take it.
  private func refusal(of call: PoolCall, _ state: inout State) -> (any Error)? {
    if state.isClosed { return TaskError(.poolClosed, "the pool takes no more calls") }
    if state.queue.count < state.idle || startWorker(&state) { return nil }
    if state.stats.threads == 0 {
      return TaskError(.workerStartFailed, "the system has no thread left")
    }
    guard whenFull != .wait, state.queue.count >= queueMax + state.idle else { return nil }
    if whenFull == .fail { return TaskError(.queueFull, "\(queueMax) calls wait already") }
    state.stats.dropped += 1
    if whenFull == .dropOldest, queueMax > 0, let oldest = state.queue.popFirst() {
      end(
        oldest, TaskError(.dropped, "the queue is full, and this call waited the longest"), &state)
      return nil
    }
    return TaskError(.dropped, "the queue is full")
  }

  private func startWorker(_ state: inout State) -> Bool {
    guard state.stats.threads < threadsMax, startThread(name: name, { [self] in work() }) else {
      return false
    }
    state.stats.threads += 1
    state.idle += 1
    return true
  }

  /// Fails a call that has left its list.
  private func end(_ call: PoolCall, _ error: any Error, _ state: inout State) {
    call.phase = .settled
    state.after.drop(call.body)
    state.after.resume(call.continuation, error)
    call.body = nil
    call.continuation = nil
  }

  /// Fails a call that is not settled yet, and signals its work.
  func settle(_ call: PoolCall, _ error: any Error) {
    change { state in
      switch call.phase {
      case .new:
        if call.early == nil { call.early = error }
      case .queued:
        state.queue.remove(call)
        end(call, error, &state)
        notifyWaiters(&state)
      case .running: abandon(call, error, &state)
      case .settled: break
      }
    }
  }

  private func abandon(_ call: PoolCall, _ error: any Error, _ state: inout State) {
    state.running.remove(call)
    state.stats.abandoned += 1
    call.signal.cancel()
    end(call, error, &state)
  }

  // MARK: Threads

  private func work() {
    while let (call, body) = next() {
      var failure: (any Error)?
      do { try body(call.signal) } catch { failure = error }
      finished(call, failure)
    }
  }

  /// Waits for a call.
  ///
  /// Returns nil if the pool is closed and no call waits.
  private func next() -> (PoolCall, PoolCall.Body)? {
    while true {
      var taken: (PoolCall, PoolCall.Body)?
      var isOver = false
      change { state in
        if let call = state.queue.popFirst(), let body = call.body {
          call.body = nil
          call.phase = .running
          state.running.append(call)
          taken = (call, body)
        } else if state.isClosed {
          state.stats.threads -= 1
          isOver = true
        } else {
          return
        }
        state.idle -= 1
        notifyWaiters(&state)
      }
      if taken != nil || isOver { return taken }
      state.wait(while: { $0.queue.isEmpty && !$0.isClosed })
    }
  }

  private func finished(_ call: PoolCall, _ failure: (any Error)?) {
    change { state in
      state.idle += 1
      if call.phase == .running {
        state.running.remove(call)
        state.stats.completed += 1
        call.phase = .settled
        state.after.resume(call.continuation, failure)
        call.continuation = nil
      } else {
        state.stats.abandoned -= 1
      }
      notifyWaiters(&state)
    }
  }

  // MARK: Closing

  func close() {
    change { state in
      state.isClosed = true
      self.state.lock.wakeAll()
      notifyWaiters(&state)
    }
  }

  func terminate() {
    change { state in
      state.isClosed = true
      let error = TaskError(.poolTerminated, "the pool was terminated")
      while let call = state.queue.popFirst() { end(call, error, &state) }
      while let call = state.running.popFirst() {
        state.running.append(call)
        abandon(call, error, &state)
      }
      self.state.lock.wakeAll()
      notifyWaiters(&state)
    }
  }

  // MARK: Waiting for the pool

  private func hasRoom(_ state: State) -> Bool {
    state.stats.threads < threadsMax || state.queue.count < queueMax + state.idle
  }

  private func notifyWaiters(_ state: inout State) {
    if state.isClosed {
      let closed = TaskError(.poolClosed, "the pool takes no more calls")
      for waiter in state.rooms { state.after.resume(waiter.continuation, closed) }
      state.rooms = []
      guard state.stats.threads == 0 else { return }
      for waiter in state.ends { state.after.resume(waiter.continuation) }
      state.ends = []
    } else if !state.rooms.isEmpty, hasRoom(state) {
      for waiter in state.rooms { state.after.resume(waiter.continuation) }
      state.rooms = []
    }
  }

  func waitForRoom(_ waiter: PoolWaiter, _ continuation: CheckedContinuation<Void, any Error>) {
    wait(waiter, continuation) { $0.rooms.append(waiter) }
  }

  func waitForEnd(_ waiter: PoolWaiter, _ continuation: CheckedContinuation<Void, any Error>) {
    wait(waiter, continuation) { $0.ends.append(waiter) }
  }

  private func wait(
    _ waiter: PoolWaiter, _ continuation: CheckedContinuation<Void, any Error>,
    _ enlist: (inout State) -> Void
  ) {
    change { state in
      if let early = waiter.early { return state.after.resume(continuation, early) }
      waiter.continuation = continuation
      enlist(&state)
      notifyWaiters(&state)
    }
  }

  /// Ends a wait with an error.
  ///
  /// Does nothing if the wait is over.
  func fail(_ waiter: PoolWaiter, _ error: any Error) {
    change { state in
      if waiter.continuation == nil { waiter.early = waiter.early ?? error }
      guard let at = state.rooms.firstIndex(where: { $0 === waiter }) else {
        guard let at = state.ends.firstIndex(where: { $0 === waiter }) else { return }
        state.ends.remove(at: at)
        return state.after.resume(waiter.continuation, error)
      }
      state.rooms.remove(at: at)
      state.after.resume(waiter.continuation, error)
    }
  }

  // MARK: Time

  /// Starts a timer.
  ///
  /// Returns nil without a limit. `fired` runs after `limit`, `failed` if the clock throws.
  func timer(
    _ limit: Duration?, fired: @escaping @Sendable () -> Void,
    failed: @escaping @Sendable (any Error) -> Void
  ) throws -> Task<Void, Never>? {
    guard let limit else { return nil }
    try checkLimit(limit)
    return startTimer(clock, limit, fired: fired, failed: failed)
  }
}

/// One call of a pool.
///
/// The pool's lock protects its fields.
final class PoolCall: @unchecked Sendable {
  typealias Body = @Sendable (WorkSignal) throws -> Void

  enum Phase { case new, queued, running, settled }

  let signal = WorkSignal()
  var phase = Phase.new
  var body: Body?
  var continuation: CheckedContinuation<Void, any Error>?
  /// The error that arrived before the call was submitted.
  var early: (any Error)?
  // The neighbours in a `CallList`.
  fileprivate var before: PoolCall?
  fileprivate var after: PoolCall?

  init(_ body: @escaping Body) { self.body = body }
}

/// A queue of calls that loses any of them in constant time.
///
/// A call is in one list at most.
struct CallList {
  private(set) var count = 0
  private var first: PoolCall?
  private var last: PoolCall?

  var isEmpty: Bool { count == 0 }

  mutating func append(_ call: PoolCall) {
    call.before = last
    if let last { last.after = call } else { first = call }
    last = call
    count += 1
  }

  mutating func popFirst() -> PoolCall? {
    guard let call = first else { return nil }
    remove(call)
    return call
  }

  mutating func remove(_ call: PoolCall) {
    if let before = call.before { before.after = call.after } else { first = call.after }
    if let after = call.after { after.before = call.before } else { last = call.before }
    call.before = nil
    call.after = nil
    count -= 1
  }
}

/// A task that waits for room, or for the end of a pool.
///
/// The pool's lock protects its fields.
final class PoolWaiter: @unchecked Sendable {
  var continuation: CheckedContinuation<Void, any Error>?
  /// The error that arrived before the wait began.
  var early: (any Error)?
}

/// What happens after the pool's lock is released: values of the application are destroyed, and
/// tasks continue.
struct Aftermath {
  private var dropped: [PoolCall.Body] = []
  private var resumed: [(CheckedContinuation<Void, any Error>, (any Error)?)] = []

  mutating func drop(_ body: PoolCall.Body?) {
    if let body { dropped.append(body) }
  }

  mutating func resume(
    _ continuation: CheckedContinuation<Void, any Error>?, _ error: (any Error)? = nil
  ) {
    if let continuation { resumed.append((continuation, error)) }
  }

  mutating func happen() {
    dropped = []
    for (continuation, error) in resumed {
      if let error { continuation.resume(throwing: error) } else { continuation.resume() }
    }
    resumed = []
  }
}
