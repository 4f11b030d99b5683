// SPDX-License-Identifier: MIT OR Apache-2.0

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
