// SPDX-License-Identifier: MIT OR Apache-2.0

/// One wait of a task. Its identity tells its cancellation from that of another task's wait.
final class Turn: @unchecked Sendable {
  /// Whether another task's wait was in the way. The lock of what is waited for guards it.
  var isRefused = false
}

/// Something that only the first caller gets.
final class Once: @unchecked Sendable {
  private let lock = Lock()
  private var isTaken = false

  /// Returns whether this is the first call.
  func take() -> Bool {
    lock.held {
      defer { isTaken = true }
      return !isTaken
    }
  }
}
