// SPDX-License-Identifier: MIT OR Apache-2.0

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
