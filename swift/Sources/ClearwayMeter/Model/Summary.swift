// SPDX-License-Identifier: MIT OR Apache-2.0

/// The inputs for a run's report.
struct RunFacts {
  var host = "swift"
  var label: String?
  var startedAt: String
  var durationMs: Double
  var hz: Double
  var floorMs: Double
  var stalls: [Stall]
  var droppedStalls = 0
  var sources: [SourceState]
  /// Start of the covered time, counted from the start of the run.
  ///
  /// 0 unless stalls were dropped.
  var coveredFromMs = 0.0
}

/// Waits that people notice or plan for, in ms: a frame at 120 Hz and at 60 Hz, then 50, 100 (the
/// limit of "instant"), 250 and 1000.
private let waitsOverMs = [1000.0 / 120, 1000.0 / 60, 50, 100, 250, 1000]

/// Computes a run's report.
///
/// Reads no clock.
func summarize(_ run: RunFacts) -> StallReport {
  let lengths = run.stalls.map(\.lengthMs)
  let starts = run.stalls.map(\.startMs)
  let ratio = hitchRatio(lengths, run.durationMs, run.hz)
  return StallReport(
    host: run.host, label: run.label, startedAt: run.startedAt, durationMs: run.durationMs,
    floorMs: run.floorMs,
    stalls: run.stalls, droppedStalls: run.droppedStalls, longestMs: lengths.max() ?? 0,
    ownLongestMs: run.stalls.map(ownMs).max() ?? 0,
    lagMeanMs: lagMean(lengths, run.durationMs), stalledMs: lengths.reduce(0, +),
    stallsPerMinute: run.durationMs > 0 ? Double(lengths.count) / run.durationMs * 60_000 : 0,
    waits: waitsOverMs.map {
      WaitShare(overMs: $0, share: waitProbability(lengths, run.durationMs, overMs: $0))
    },
    hitch: HitchReport(hz: run.hz, msPerSecond: ratio, verdicts: hitchVerdicts(ratio)),
    frames: FrameReport(
      hz: run.hz, expected: rounded(run.durationMs * run.hz / 1000),
      dropped: expectedDroppedFrames(lengths, run.hz), estimated: true),
    worstSecond: worstSecond(
      starts, lengths, fromMs: run.coveredFromMs, untilMs: run.coveredFromMs + run.durationMs),
    tail: tail(lengths),
    causes: StallCause.allCases.compactMap { share($0, run.stalls) },
    sources: run.sources)
}

/// The part of a stall for which the app is responsible.
private func ownMs(_ stall: Stall) -> Double {
  stall.cause == .machine ? stall.lengthMs - stall.machineMs : stall.lengthMs
}

private func share(_ cause: StallCause, _ stalls: [Stall]) -> CauseShare? {
  let those = stalls.filter { $0.cause == cause }
  guard !those.isEmpty else { return nil }
  return CauseShare(
    cause: cause, stalls: those.count, totalMs: those.reduce(0) { $0 + $1.lengthMs },
    longestMs: longest(those))
}

private func longest(_ stalls: [Stall]) -> Double { stalls.map(\.lengthMs).max() ?? 0 }

/// Returns the probability, from 0 to 1, that an event at a random moment of the run waits longer
/// than `overMs`: the sum of max(0, b - x) over all stalls b, divided by the length of the run.
///
/// A lower bound if `overMs` is below the floor.
func waitProbability(_ lengthsMs: [Double], _ durationMs: Double, overMs: Double) -> Double {
  guard durationMs > 0 else { return 0 }
  return min(1, lengthsMs.reduce(0) { $0 + max(0, $1 - overMs) } / durationMs)
}

/// Returns the mean wait of an event that arrives at a random moment: the sum of b^2 / 2T over all
/// stalls b.
func lagMean(_ lengthsMs: [Double], _ durationMs: Double) -> Double {
  guard durationMs > 0 else { return 0 }
  return lengthsMs.reduce(0) { $0 + $1 * $1 } / (2 * durationMs)
}

/// Returns the time by which frames are late, in ms per second of the run: the sum of max(0, b -
/// 1000/F) over all stalls b, divided by the length of the run.
///
/// F is `hz`.
func hitchRatio(_ lengthsMs: [Double], _ durationMs: Double, _ hz: Double) -> Double {
  guard durationMs > 0 else { return 0 }
  let frameMs = 1000 / hz
  return lengthsMs.reduce(0) { $0 + max(0, $1 - frameMs) } / durationMs * 1000
}

/// Returns the verdicts on a hitch ratio.
///
/// The strict limits are 5 and 10 ms/s (Apple, WWDC 2020, session 10077), the lenient ones the
/// newer 10, 25 and 50 ms/s.
func hitchVerdicts(_ msPerSecond: Double) -> HitchVerdicts {
  HitchVerdicts(
    strict: msPerSecond <= 5 ? "good" : msPerSecond <= 10 ? "warning" : "critical",
    lenient: msPerSecond <= 10
      ? "good" : msPerSecond <= 25 ? "fair" : msPerSecond <= 50 ? "poor" : "critical")
}

/// Returns the number of frames that stalls drop at `hz`, on average: the sum of max(0, b hz/1000 -
/// 1), rounded once.
func expectedDroppedFrames(_ lengthsMs: [Double], _ hz: Double) -> Int {
  let frameMs = 1000 / hz
  return rounded(lengthsMs.reduce(0) { $0 + max(0, $1 / frameMs - 1) })
}

/// Rounds half up.
///
/// Returns the largest number for one that `Int` cannot hold.
func rounded(_ value: Double) -> Int { Int(exactly: (value + 0.5).rounded(.down)) ?? Int.max }

/// Minimum number of samples that must lie beyond a quantile.
///
/// With fewer, chance decides more than the app.
private let samplesBeyondMin = 20.0

/// Returns the nearest-rank quantile of an ascending list, or nil if the list is too short for it.
func quantile(_ sorted: [Double], _ q: Double) -> Double? {
  // The term 1e-9 compensates for the rounding of 1 - q: 200 * (1 - 0.9) is 19.999999999999996.
  let count = Double(sorted.count)
  guard count * (1 - q) + 1e-9 >= samplesBeyondMin else { return nil }
  return sorted[max(0, Int((count * q - 1e-9).rounded(.up)) - 1)]
}

/// Returns the quantiles of the stall lengths.
func tail(_ lengthsMs: [Double]) -> [TailQuantile] {
  let sorted = lengthsMs.sorted()
  return [0.5, 0.9, 0.99, 0.999].map { TailQuantile(quantile: $0, lengthMs: quantile(sorted, $0)) }
}

/// Returns the second of the run with the most stalled time.
///
/// It may start at any moment.
///
/// As the window slides, its stalled time changes slope only when an edge of the window meets an
/// edge of a stall. So the worst window starts where a stall starts, or ends where a stall ends.
/// The stalls must be in order and must not overlap.
func worstSecond(_ startsMs: [Double], _ lengthsMs: [Double], fromMs: Double, untilMs: Double)
  -> WorstSecond
{
  let windowMs = 1000.0
  let ends = zip(startsMs, lengthsMs).map { $0 + $1 }
  var before = [0.0]
  for length in lengthsMs { before.append(before.last! + length) }
  func stalledUntil(_ atMs: Double) -> Double {
    var (low, high) = (0, ends.count)
    while low < high {
      let middle = (low + high) / 2
      if ends[middle] <= atMs { low = middle + 1 } else { high = middle }
    }
    return before[low] + (low < ends.count ? max(0, atMs - startsMs[low]) : 0)
  }
  let lastStartMs = max(fromMs, untilMs - windowMs)
  var worst = WorstSecond(startMs: fromMs, stalledMs: 0)
  for at in ends.indices {
    for candidate in [startsMs[at], ends[at] - windowMs] {
      let startMs = min(max(fromMs, candidate), lastStartMs)
      let stalledMs = stalledUntil(startMs + windowMs) - stalledUntil(startMs)
      if stalledMs > worst.stalledMs { worst = WorstSecond(startMs: startMs, stalledMs: stalledMs) }
    }
  }
  return worst
}
