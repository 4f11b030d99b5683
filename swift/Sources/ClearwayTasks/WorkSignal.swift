// SPDX-License-Identifier: MIT OR Apache-2.0
import ClearwayThreads

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
