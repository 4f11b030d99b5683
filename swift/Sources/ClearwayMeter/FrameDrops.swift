// SPDX-License-Identifier: MIT OR Apache-2.0
import ClearwayThreads
import Dispatch

/// A lag that is longer than a frame, in milliseconds.
public struct FrameDrop: Sendable, Hashable {
  /// Start of the lag since the call.
  public let startMs: Double
  public let lagMs: Double
}

/// The figures of ``measureFrameDrops(hz:timers:_:)``.
///
/// Lengths are in milliseconds.
public struct FrameDrops: Sendable, Hashable {
  public let hz: Double
  /// The time between two frames: 1000 / hz.
  public let frameMs: Double
  public let totalMs: Double
  /// Number of lags: one for each probe, and one at the end.
  public let probes: Int
  public let lagMeanMs: Double
  /// The longest lag.
  ///
  /// An event that arrived at its begin waited that long.
  public let lagMaxMs: Double
  /// Each further frame interval within one lag counts as one more: the sum of max(0, lag hz/1000 -
  /// 1), rounded once.
  public let dropped: Int
  /// Dropped frames as the published function counts them: a frame has 1000 / hz whole
  /// milliseconds, and a longer lag drops all that it began.
  public let droppedAsPublished: Int
  /// The lags that are longer than a frame, in order.
  public let drops: [FrameDrop]
  /// All lags, in order.
  public let lagsMs: [Double]
  /// Time by which frames are late, in milliseconds per second.
  public let hitchMsPerSecond: Double

  init(lagsMs: [Double], totalMs: Double, hz: Double) {
    self.hz = hz
    frameMs = 1000 / hz
    self.totalMs = totalMs
    probes = lagsMs.count
    lagMeanMs = lagsMs.isEmpty ? 0 : lagsMs.reduce(0, +) / Double(lagsMs.count)
    lagMaxMs = lagsMs.max() ?? 0
    dropped = expectedDroppedFrames(lagsMs, hz)
    hitchMsPerSecond = hitchRatio(lagsMs, totalMs, hz)
    self.lagsMs = lagsMs
    let whole = (1000 / hz).rounded(.down)
    droppedAsPublished = lagsMs.reduce(0) { $1 > whole ? $0 + Int(($1 / whole).rounded(.up)) : $0 }
    var startMs = 0.0
    var drops: [FrameDrop] = []
    for lagMs in lagsMs {
      if lagMs > 1000 / hz { drops.append(FrameDrop(startMs: startMs, lagMs: lagMs)) }
      startMs += lagMs
    }
    self.drops = drops
  }

  /// The verdict in one line: "Jank: 59 frames dropped, max lag 1001 ms".
  public var verdict: String {
    dropped > 0
      ? "Jank: \(dropped) \(dropped == 1 ? "frame" : "frames") dropped, max lag \(threeDigits(lagMaxMs))"
      : "Smooth: max lag \(threeDigits(lagMaxMs)), average \(threeDigits(lagMeanMs)), "
        + "\(probes) \(probes == 1 ? "probe" : "probes")"
  }
}

/// Formats a time with three significant digits, two below 1 ms, as the other meters do.
private func threeDigits(_ ms: Double) -> String {
  guard ms > 0, ms < 1000 else { return "\(fixed(ms, 0)) ms" }
  var scale = ms >= 100 ? 1.0 : ms >= 10 ? 10.0 : ms >= 1 ? 100.0 : 100.0
  if ms < 1 { while ms * scale < 10, scale < 1e9 { scale *= 10 } }
  let value = (ms * scale).rounded(.toNearestOrAwayFromZero) / scale
  return "\(plain(value)) ms"
}

/// The clock and the timer of ``measureFrameDrops(hz:timers:_:)``.
///
/// Tests pass their own.
public protocol ProbeTimers: Sendable {
  /// Returns the time of a monotonic clock, in ms.
  func nowMs() -> Double

  /// Calls `act` on the main actor every `ms` milliseconds until the returned function is called.
  @MainActor func every(ms: Int, _ act: @escaping @MainActor @Sendable () -> Void) -> @Sendable ()
    -> Void
}

/// Runs `operation` on the main actor, and probes the main actor with a timer of 1 ms meanwhile.
///
/// A lag is the time between two probes; the last one ends when the operation returns. A lag of
/// several frames drops as many frames. Throws the operation's own error, and an `invalid-argument`
/// error for `hz`.
@MainActor
public func measureFrameDrops<Value>(
  hz: Double = 60, timers: some ProbeTimers = MainQueueTimers(),
  _ operation: @MainActor () async throws -> Value
) async throws -> (value: Value, drops: FrameDrops) {
  guard hz > 0, hz <= 1000 else {
    throw MeterError.invalid("hz must be over 0, at most 1000: hz=\(hz)")
  }
  let lags = Lags(beginMs: timers.nowMs())
  let stop = timers.every(ms: 1) { lags.probe(timers.nowMs()) }
  defer { stop() }
  let value = try await operation()
  lags.probe(timers.nowMs())
  return (value, FrameDrops(lagsMs: lags.lagsMs, totalMs: lags.lastMs - lags.beginMs, hz: hz))
}

@MainActor
private final class Lags {
  let beginMs: Double
  private(set) var lastMs: Double
  private(set) var lagsMs: [Double] = []

  init(beginMs: Double) {
    self.beginMs = beginMs
    lastMs = beginMs
  }

  func probe(_ nowMs: Double) {
    lagsMs.append(nowMs - lastMs)
    lastMs = nowMs
  }
}

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
