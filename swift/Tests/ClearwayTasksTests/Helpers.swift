// SPDX-License-Identifier: MIT OR Apache-2.0
@testable import ClearwayTasks
import ClearwayThreads
import Testing

struct Broken: Error, Equatable {}

/// Counts the objects that exist.
final class Census: Sendable {
  private let count = Locked(0)

  var alive: Int { count.with { $0 } }

  /// Makes a counted object.
  func object() -> Counted { Counted(self) }

  final class Counted: Sendable {
    private let census: Census

    init(_ census: Census) {
      self.census = census
      census.count.with { $0 += 1 }
    }

    deinit { census.count.with { $0 -= 1 } }
  }
}

/// Holds the threads that pass it until it opens.
final class Gate: Sendable {
  private struct State: Sendable {
    var isOpen = false
    var waiting = 0
  }

  private let state = Locked(State())

  /// The number of threads that wait at the gate.
  var waiting: Int { state.with { $0.waiting } }

  func pass() {
    state.with { $0.waiting += 1 }
    state.wait(while: { !$0.isOpen })
    state.with { $0.waiting -= 1 }
  }

  func open() {
    state.with { state in
      state.isOpen = true
      self.state.lock.wakeAll()
    }
  }
}

/// Waits until a condition holds.
///
/// The tests' time limit bounds it.
func until(_ holds: () -> Bool) async {
  while !holds(), !Task.isCancelled { await Task.yield() }
}

/// Returns the code of the `TaskError` that `body` throws.
///
/// Returns nil if it throws nothing, or another error.
func code(isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Void) async
  -> TaskError.Code?
{
  do {
    try await body()
    return nil
  } catch {
    return (error as? TaskError)?.code
  }
}

/// Whether `task` has failed with `CancellationError`.
func isCancelled<Value>(_ task: Task<Value, any Error>) async -> Bool {
  guard case .failure(let error) = await task.result else { return false }
  return error is CancellationError
}

/// A clock that a test moves.
///
/// Sleepers wake when their time has come, or when their task is cancelled.
final class ManualClock: Clock, Sendable {
  struct Instant: InstantProtocol {
    let offset: Duration

    func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Duration { other.offset - offset }
    static func < (a: Instant, b: Instant) -> Bool { a.offset < b.offset }
  }

  private struct State: Sendable {
    var now = Instant(offset: .zero)
    var next = 0
    var sleepers: [Int: (due: Instant, continuation: CheckedContinuation<Void, any Error>)] = [:]
    var cancelled: Set<Int> = []
    var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Locked(State())

  var now: Instant { state.with { $0.now } }
  var minimumResolution: Duration { .nanoseconds(1) }
  var sleepers: Int { state.with { $0.sleepers.count } }

  func sleep(until due: Instant, tolerance: Duration?) async throws {
    let id = state.with { state in
      state.next += 1
      return state.next
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let outcome: Result<Void, any Error>? = state.with { state in
          if state.cancelled.remove(id) != nil { return .failure(CancellationError()) }
          if due <= state.now { return .success(()) }
          state.sleepers[id] = (due, continuation)
          return nil
        }
        if let outcome { continuation.resume(with: outcome) }
        wakeWatchers()
      }
    } onCancel: {
      let sleeper = state.with { state in
        let sleeper = state.sleepers.removeValue(forKey: id)
        if sleeper == nil { state.cancelled.insert(id) }
        return sleeper
      }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }

  /// Waits until `count` tasks sleep.
  func untilSleepers(_ count: Int) async {
    await withCheckedContinuation { continuation in
      state.with { $0.watchers.append((count, continuation)) }
      wakeWatchers()
    }
  }

  private func wakeWatchers() {
    let woken = state.with { state in
      let woken = state.watchers.filter { $0.count <= state.sleepers.count }
      let count = state.sleepers.count
      state.watchers.removeAll { $0.count <= count }
      return woken
    }
    for watcher in woken { watcher.continuation.resume() }
  }

  func advance(by duration: Duration) {
    let woken = state.with { state in
      state.now = state.now.advanced(by: duration)
      let now = state.now
      let woken = state.sleepers.filter { $0.value.due <= now }
      for (id, _) in woken { state.sleepers[id] = nil }
      return woken
    }
    for (_, sleeper) in woken { sleeper.continuation.resume() }
  }
}
