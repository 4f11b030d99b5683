// SPDX-License-Identifier: MIT OR Apache-2.0

/// A timer that may be stopped.
struct ChannelTimer: Sendable {
  let stop: @Sendable () -> Void
}

/// The time of an endpoint. Tests have their own.
protocol ChannelClock: Sendable {
  /// The time in milliseconds, from any start.
  var nowMs: Int64 { get }
  /// Calls `act` once, after at least this time, on any thread.
  func after(_ ms: Int64, _ act: @escaping @Sendable () -> Void) -> ChannelTimer
}

/// The system's clock.
struct SystemClock: ChannelClock {
  private static let start = ContinuousClock.now

  var nowMs: Int64 { (ContinuousClock.now - Self.start).milliseconds }

  func after(_ ms: Int64, _ act: @escaping @Sendable () -> Void) -> ChannelTimer {
    let task = Task.detached {
      try await Task.sleep(for: .milliseconds(ms))
      act()
    }
    return ChannelTimer { task.cancel() }
  }
}

extension Duration {
  /// The whole milliseconds of the duration, rounded up.
  var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    if overflow { return seconds < 0 ? .min : .max }
    let rest = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    return product.addingReportingOverflow(rest).overflow ? .max : product + rest
  }
}
