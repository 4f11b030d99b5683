// SPDX-License-Identifier: MIT OR Apache-2.0

/// A detected stall: the thread could not answer from `startMs` to `endMs`, on the meter's clock.
struct DetectedStall: Equatable {
  var startMs: Double
  var endMs: Double
  /// Earliest possible start.
  ///
  /// Evidence after this time may belong to this stall.
  var earliestMs: Double
  var errorMs: Double
  /// Whether this stall continues the stall that was found last and ended at `startMs`.
  var continuesLast = false
}

/// Finds stalls from beats that another thread puts into the watched thread's queue.
///
/// It follows the same rules and the same test vectors as the detectors of the other languages.
///
/// ```
/// sent       d0      d1      d2
/// answered   d0      d1                       d2
///                     |--?--|<---- stall ---->|
///                           the stall began between d1's answer and the sending of d2
/// ```
///
/// The fastest recent beat gives the latency of the queue itself. "Recent" means the last two
/// windows of beats.
struct BeatDetector {
  private let floorMs: Double
  private let windowBeats: Int
  private var lastMs: Double?
  private var blockedUntilMs: Double?
  private var newestLagMs = Double.infinity
  private var olderLagMs = Double.infinity
  private var beats = 0

  init(floorMs: Double, windowBeats: Int = 5000) {
    self.floorMs = floorMs
    self.windowBeats = windowBeats
  }

  /// Starts a run at `atMs` and forgets the last answer.
  mutating func restart(_ atMs: Double) {
    lastMs = atMs
    blockedUntilMs = nil
  }

  /// Records that the thread was blocked until `atMs`.
  mutating func blocked(until atMs: Double) {
    lastMs = atMs
    blockedUntilMs = atMs
  }

  /// Handles a beat that was sent `wokeLateMs` later than the sender wanted.
  ///
  /// Returns the stall that its answer ended.
  ///
  /// If the sender was so late that it may have missed a stall, returns the known part, which may
  /// be under the floor.
  mutating func beat(sentMs: Double, answeredMs atMs: Double, wokeLateMs: Double = 0)
    -> DetectedStall?
  {
    renew(atMs - sentMs)
    guard let before = lastMs else {
      lastMs = atMs
      return nil
    }
    let isKnown = blockedUntilMs == before
    lastMs = atMs
    blockedUntilMs = nil
    let dueMs = sentMs + min(newestLagMs, olderLagMs)
    let isTooShort = atMs - before < floorMs
    if dueMs <= before {
      // This beat was sent before the last answer, and the thread was blocked again before it
      // answered this one.
      if isTooShort, !isKnown { return nil }
      return DetectedStall(
        startMs: before, endMs: atMs, earliestMs: before,
        errorMs: min(atMs - before, before - dueMs),
        continuesLast: isKnown)
    }
    if isTooShort { return nil }
    let unsureMs = dueMs - before
    // If the sender wanted to wake before the last answer, later work of the thread did not delay
    // it.
    let wantedMs = dueMs - wokeLateMs > before ? dueMs - wokeLateMs : dueMs
    let startMs = (before + wantedMs) / 2
    // A beat without lateness shows no stall, however long the sender slept.
    if atMs - dueMs > unsureMs / 4, atMs - startMs >= floorMs {
      return DetectedStall(
        startMs: startMs, endMs: atMs, earliestMs: before,
        errorMs: max(startMs - before, dueMs - startMs))
    }
    guard wokeLateMs > 0 else { return nil }
    return DetectedStall(startMs: dueMs, endMs: atMs, earliestMs: before, errorMs: unsureMs)
  }

  private mutating func renew(_ lagMs: Double) {
    beats += 1
    if beats % windowBeats == 0 {
      olderLagMs = newestLagMs
      newestLagMs = lagMs
    } else if lagMs < newestLagMs {
      newestLagMs = lagMs
    }
  }
}

/// All evidence about one stall.
struct Evidence {
  var lengthMs: Double
  var machineMs: Double
  /// Whether the main evidence for a delay by the machine is the thread's own wait for a core.
  var queued = false
  /// Upper bound of the thread's CPU time during the stall.
  ///
  /// Nil if unknown.
  var ranMs: Double?
  /// Part of the stall in which the thread had nothing to do and was not woken.
  var unwokenMs = 0.0
  var gcMs = 0.0
  /// The function that `measure` ran for at least half of the stall, without a break.
  var call: String?
  var stacks: [StackSample] = []
  var marks: [MarkShare] = []
  /// Why there is no idle watcher.
  ///
  /// Nil if there is one.
  var noWatcher: String?
  /// Whether garbage collections are excluded or could be observed.
  var gcSeen = true
}

/// Returns the cause and the reason for it.
///
/// The machine, the collector, a measured call or a mark must account for at least half of the
/// stall. One stack is enough. The order of the checks is: the machine (a thread without a core can
/// do nothing else), the collector, the app.
func causeOf(_ evidence: Evidence) -> (StallCause, String) {
  let halfMs = evidence.lengthMs / 2
  if evidence.unwokenMs >= halfMs {
    return (.machine, "the thread had nothing to do and was woken \(ms(evidence.unwokenMs)) late")
  }
  if evidence.machineMs >= halfMs {
    let how =
      evidence.queued
      ? "the thread was ready, and not run" : "an idle watcher thread was held up too"
    return (.machine, "\(how), for \(ms(evidence.machineMs)) of it")
  }
  if evidence.gcMs >= halfMs { return (.gc, "garbage collection took \(ms(evidence.gcMs)) of it") }
  if let call = evidence.call { return (.app, "\(call) ran without giving the thread back") }
  if let frame = evidence.stacks.first?.frames.first { return (.app, "it was seen in \(frame)") }
  if let mark = evidence.marks.first(where: { $0.overlapMs >= halfMs }) {
    return (.app, "it fell into the mark \"\(mark.label)\"")
  }
  if let noWatcher = evidence.noWatcher {
    return (.unknown, "no idle watcher to tell the machine from the app: \(noWatcher)")
  }
  if evidence.gcSeen, let ranMs = evidence.ranMs, ranMs < halfMs {
    let ran =
      "it ran for \(ms(ranMs)) at most, and neither the machine nor garbage collection held it"
    return (.app, "the thread waited, as for a lock: \(ran)")
  }
  if evidence.gcSeen {
    return (.app, "the thread was busy, and neither the machine nor garbage collection held it")
  }
  return (
    .unknown, "the thread was busy; this host names no script for it and shows no collections"
  )
}

/// Returns how long, in ms, the machine kept the thread from running: the union of both
/// observations, limited to the time in which the thread did not run, and at least the longer
/// observation.
func machineMs(
  lengthMs: Double, watcherMs: Double, queuedMs: Double, bothMs: Double, ranMs: Double?
) -> Double {
  let one = max(watcherMs, queuedMs)
  guard let ranMs else { return one }
  return max(one, min(watcherMs + queuedMs - bothMs, lengthMs - ranMs))
}

private func ms(_ value: Double) -> String { "\(fixed(value, 1)) ms" }
