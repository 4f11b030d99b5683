// SPDX-License-Identifier: MIT OR Apache-2.0
import ClearwayThreads

/// Ticks a monitor on a thread of its own, until it is stopped.
final class Watcher: Sendable {
  /// Delay between a stall's end and its explanation, in ms.
  ///
  /// In this time, the watcher's own delay is recorded.
  private static let settleMs = 100.0

  private struct State {
    var isStopped = false
    var hasStarted = false
    var ready: [CheckedContinuation<Void, Never>] = []
  }

  let monitor: HeartbeatMonitor
  private let state = Locked(State())
  private let onStall: @Sendable (Stall) -> Void

  init(_ monitor: HeartbeatMonitor, onStall: @escaping @Sendable (Stall) -> Void) {
    self.monitor = monitor
    self.onStall = onStall
  }

  static let nowMs: @Sendable () -> Double = { Double(monotonicNs()) / 1e6 }

  /// Starts the thread.
  ///
  /// Returns false if the system has none left.
  func start() -> Bool {
    monitor.begin(Self.nowMs(), startedAt: wallTimeText())
    return startThread(name: "clearway-meter") { [self] in
      while !state.with({ $0.isStopped }) {
        let dueMs = monitor.tick()
        if monitor.answered { resumeReady() }
        for stall in monitor.explain(Self.nowMs() - Self.settleMs) { onStall(stall) }
        let leftMs = dueMs - Self.nowMs()
        monitor.waits(from: Self.nowMs())
        guard leftMs > 0 else { continue }
        state.lock.lock()
        state.lock.wait(atMostNs: UInt64(leftMs * 1e6))
        state.lock.unlock()
      }
    }
  }

  private func resumeReady() {
    let waiting = state.with { state in
      state.hasStarted = true
      let waiting = state.ready
      state.ready = []
      return waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Waits until the first beat was answered, or the watcher was stopped.
  func ready() async {
    await withCheckedContinuation { continuation in
      let isReady = state.with { state in
        if !state.hasStarted, !state.isStopped { state.ready.append(continuation) }
        return state.hasStarted || state.isStopped
      }
      if isReady { continuation.resume() }
    }
  }

  /// Stops the thread, which ends some ms later, and explains the remaining stalls.
  ///
  /// Does not wait for the thread.
  func stop(atMs: Double) {
    state.with { state in
      state.isStopped = true
      self.state.lock.wakeAll()
    }
    resumeReady()
    for stall in monitor.finish(atMs) { onStall(stall) }
  }
}
