// SPDX-License-Identifier: MIT OR Apache-2.0
import ClearwayThreads
import Dispatch

/// The system's monotonic clock, and a timer on the main queue.
public struct MainQueueTimers: ProbeTimers {
  public init() {}

  public func nowMs() -> Double { Double(monotonicNs()) / 1e6 }

  @MainActor public func every(ms: Int, _ act: @escaping @MainActor @Sendable () -> Void)
    -> @Sendable () -> Void
  {
    let timer = DispatchSource.makeTimerSource(queue: .main)
    timer.schedule(
      deadline: .now() + .milliseconds(ms), repeating: .milliseconds(ms), leeway: .nanoseconds(0))
    timer.setEventHandler { MainActor.assumeIsolated { act() } }
    timer.resume()
    nonisolated(unsafe) let held = timer
    return { held.cancel() }
  }
}
