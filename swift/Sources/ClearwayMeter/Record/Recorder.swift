// SPDX-License-Identifier: MIT OR Apache-2.0

/// Turns observations into explained stalls and a report.
///
/// Reads no clock: each call passes the time, in ms on the meter's clock. Its owner holds a lock.
struct Recorder {
  private let options: MeterOptions
  private let marks: @Sendable (Double, Double) -> [MarkShare]
  private var beginMs = 0.0
  private var endMs = Double.infinity
  private var startedAt = ""
  private var kept: [(endMs: Double, stall: Stall)] = []
  private var droppedStalls = 0
  private var coveredFromMs = 0.0
  private var pending: [DetectedStall] = []
  private var watcher = SpanRing<Void>(spansMax: evidenceMax)
  private var queued = SpanRing<Void>(spansMax: evidenceMax)
  private var ran = SpanRing<Double>(spansMax: evidenceMax)
  private var calls = SpanRing<String>(spansMax: 8)
  /// Where evidence comes from.
  ///
  /// The monitor keeps it up to date.
  var sources: [SourceState] = []

  /// Maximum number of pieces of evidence of each kind.
  ///
  /// They cover the last few seconds; older stalls are explained.
  private static let evidenceMax = 1024

  init(
    _ options: MeterOptions,
    marks: @escaping @Sendable (Double, Double) -> [MarkShare] = { _, _ in [] }
  ) {
    self.options = options
    self.marks = marks
  }

  /// Starts a run.
  ///
  /// Drops the recorded stalls and keeps the evidence.
  mutating func begin(_ atMs: Double, startedAt: String) {
    beginMs = atMs
    endMs = .infinity
    self.startedAt = startedAt
    kept = []
    droppedStalls = 0
    coveredFromMs = atMs
    pending = []
  }

  /// Ends the run.
  ///
  /// Later observations count only for the time before `atMs`.
  mutating func end(_ atMs: Double) { endMs = atMs }

  /// Adds a detected stall.
  ///
  /// Cuts off the part after the end of the run.
  mutating func detected(_ stall: DetectedStall) {
    guard stall.endMs > beginMs, stall.startMs < endMs else { return }
    var cut = stall
    cut.endMs = min(stall.endMs, endMs)
    if cut.continuesLast, let last = pending.last, last.endMs == cut.startMs {
      pending[pending.count - 1].endMs = cut.endMs
    } else {
      pending.append(cut)
    }
  }

  /// Records that the idle watcher was due to wake at `startMs` and woke at `endMs`.
  mutating func watcherLate(_ startMs: Double, _ endMs: Double) { watcher.add(startMs, endMs, ()) }

  /// Records that the thread was ready between these moments, while the machine ran other threads.
  mutating func queued(_ startMs: Double, _ endMs: Double) { queued.add(startMs, endMs, ()) }

  /// Records that the thread had a core for `ms` between these moments.
  mutating func ran(_ startMs: Double, _ endMs: Double, _ ms: Double) {
    ran.add(startMs, endMs, ms)
  }

  /// Records that a measured function ran between these moments, without returning to the thread's
  /// loop.
  mutating func call(_ startMs: Double, _ endMs: Double, _ name: String) {
    calls.add(startMs, endMs, name)
  }

  /// Explains and returns every stall that ended at `untilMs` or before.
  mutating func explain(_ untilMs: Double) -> [Stall] {
    let ready = pending.prefix { $0.endMs <= untilMs }
    pending.removeFirst(ready.count)
    var found: [Stall] = []
    for detected in ready {
      guard let stall = explained(detected) else { continue }
      found.append(stall)
      kept.append((detected.endMs, stall))
      guard kept.count > options.stallsMax else { continue }
      // Drops a quarter at a time. Dropping a single stall would move the whole list for each new
      // stall.
      let gone = max(1, options.stallsMax / 4)
      droppedStalls += gone
      coveredFromMs = kept[gone - 1].endMs
      kept.removeFirst(gone)
    }
    return found
  }

  /// Returns the report of the run up to `atMs`, or up to its end.
  func report(_ atMs: Double) -> StallReport {
    let untilMs = min(atMs, endMs)
    let early = pending.filter { $0.endMs <= untilMs }.compactMap(explained)
    return summarize(
      RunFacts(
        label: options.label, startedAt: startedAt, durationMs: max(0, untilMs - coveredFromMs),
        hz: options.hz,
        floorMs: options.floorMs, stalls: kept.map(\.stall) + early, droppedStalls: droppedStalls,
        sources: sources,
        coveredFromMs: coveredFromMs - beginMs))
  }

  private func explained(_ detected: DetectedStall) -> Stall? {
    let startMs = max(detected.startMs, beginMs)
    let endMs = detected.endMs
    let lengthMs = endMs - startMs
    guard lengthMs >= options.floorMs else { return nil }
    // Uses evidence from the earliest possible start on. Each kind counts for at most the stall's
    // length.
    let fromMs = min(startMs, max(detected.earliestMs, beginMs))
    let noWatcher = sources.first { $0.name == "watcher" }.map { $0.why } ?? "not started"
    let watcherMs = watcher.overlapMs(fromMs, endMs)
    let queuedMs = queued.overlapMs(fromMs, endMs)
    let bothMs = watcher.during(fromMs, endMs).reduce(0) {
      $0 + max(0, queued.overlapMs(max(fromMs, $1.startMs), min(endMs, $1.endMs)))
    }
    let runs = ran.during(fromMs, endMs)
    let ranMs =
      runs.isEmpty ? nil : runs.reduce(0) { $0 + min($1.value, $1.overlapMs(fromMs, endMs)) }
    let taken = machineMs(
      lengthMs: lengthMs, watcherMs: watcherMs, queuedMs: queuedMs, bothMs: bothMs, ranMs: ranMs)
    let evidence = Evidence(
      lengthMs: lengthMs, machineMs: min(lengthMs, taken), queued: queuedMs >= watcherMs,
      ranMs: ranMs,
      call: calls.during(fromMs, endMs).first { $0.overlapMs(fromMs, endMs) >= lengthMs / 2 }?
        .value,
      marks: marks(fromMs, endMs), noWatcher: noWatcher)
    let (cause, because) = causeOf(evidence)
    return Stall(
      startMs: startMs - beginMs, lengthMs: lengthMs, errorMs: detected.errorMs, cause: cause,
      because: because,
      machineMs: evidence.machineMs, gcMs: 0, scripts: [], stacks: [], marks: evidence.marks)
  }
}
