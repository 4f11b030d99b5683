// SPDX-License-Identifier: MIT OR Apache-2.0
import ClearwayThreads

/// Throws `invalid-argument` for a limit that is no useful time.
func checkLimit(_ limit: Duration) throws {
  guard limit > .zero, limit <= .seconds(1_000_000_000) else {
    throw TaskError.invalid("deadline", mustBe: "over 0 s, at most 1000000000 s", limit)
  }
}

/// Starts a task that sleeps on a clock.
///
/// The limit counts from this call. The clock is code of the application.
func startTimer<C: Clock>(
  _ clock: C, _ limit: Duration, fired: @escaping @Sendable () -> Void,
  failed: @escaping @Sendable (any Error) -> Void
) -> Task<Void, Never> where C.Duration == Duration {
  let due = clock.now.advanced(by: limit)
  return Task {
    do {
      try await clock.sleep(until: due, tolerance: nil)
      if !Task.isCancelled { fired() }
    } catch {
      if !Task.isCancelled { failed(error) }
    }
  }
}

/// Runs `operation` and throws `deadline` if it has not ended by then.
///
/// Swift has no such function. A `TaskGroup` with a sleeping task waits for the operation even
/// after its deadline; this function cancels the operation and returns at once. An operation that
/// ignores its cancellation goes on alone, and its result is dropped. If the calling task is
/// cancelled, the operation is cancelled and this function throws `CancellationError` at once.
///
/// ```swift
/// let page = try await withDeadline(.seconds(5)) { try await download(url) }
/// ```
///
/// - Parameters:
///   - limit: Maximum time from now. Over 0.
///   - clock: The clock of the deadline. Default: `ContinuousClock`.
///   - operation: Runs in a task of its own. Its result moves to the caller.
/// - Throws: The error of the operation; `CancellationError`; a ``TaskError`` with `deadline` or
///   `invalid-argument`.
public func withDeadline<Value>(
  _ limit: Duration, clock: any Clock<Duration> = ContinuousClock(),
  isolation: isolated (any Actor)? = #isolation,
  _ operation: sending @escaping () async throws -> sending Value
) async throws -> sending Value {
  try checkLimit(limit)
  let race = Race()
  let result = Box<Value>()
  let moved = Box(Operation(run: operation))
  let running = Task {
    do {
      guard let operation = moved.take() else { return }
      result.store(try await operation.run())
      race.settle(nil)
    } catch {
      race.settle(error)
    }
  }
  let timer = startTimer(clock, limit) {
    race.settle(TaskError(.deadline, "the operation did not end within \(limit)"))
  } failed: {
    race.settle($0)
  }
  defer {
    timer.cancel()
    running.cancel()
  }
  try await withTaskCancellationHandler {
    try await withCheckedThrowingContinuation { race.wait($0) }
  } onCancel: {
    race.settle(CancellationError())
  }
  return result.take()!
}

/// A wrapped function.
///
/// Swift 6.0 cannot make a generic type of a function type with a `sending` result.
private struct Operation<Value> {
  let run: () async throws -> sending Value
}

/// The first outcome of several.
///
/// Resumes its continuation once.
private final class Race: Sendable {
  private struct State: Sendable {
    var continuation: CheckedContinuation<Void, any Error>?
    var outcome: Result<Void, any Error>?
  }

  private let state = Locked(State())

  func wait(_ continuation: CheckedContinuation<Void, any Error>) {
    let outcome = state.with { state in
      if state.outcome == nil { state.continuation = continuation }
      return state.outcome
    }
    if let outcome { continuation.resume(with: outcome) }
  }

  func settle(_ error: (any Error)?) {
    let outcome: Result<Void, any Error> = error.map { .failure($0) } ?? .success(())
    let continuation = state.with { state in
      guard state.outcome == nil else { return nil as CheckedContinuation<Void, any Error>? }
      state.outcome = outcome
      let waiting = state.continuation
      state.continuation = nil
      return waiting
    }
    continuation?.resume(with: outcome)
  }
}
