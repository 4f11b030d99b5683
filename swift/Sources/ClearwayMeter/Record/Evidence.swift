// SPDX-License-Identifier: MIT OR Apache-2.0

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
