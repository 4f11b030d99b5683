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
    ownLongestMs: longest(run.stalls.filter { $0.cause != .machine }),
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

private func share(_ cause: StallCause, _ stalls: [Stall]) -> CauseShare? {
  let those = stalls.filter { $0.cause == cause }
  guard !those.isEmpty else { return nil }
  return CauseShare(
    cause: cause, stalls: those.count, totalMs: those.reduce(0) { $0 + $1.lengthMs },
    longestMs: longest(those))
}

private func longest(_ stalls: [Stall]) -> Double { stalls.map(\.lengthMs).max() ?? 0 }
