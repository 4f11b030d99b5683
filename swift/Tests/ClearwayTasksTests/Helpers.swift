// SPDX-License-Identifier: MIT OR Apache-2.0
import ClearwayThreads
import Testing

@testable import ClearwayTasks

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
