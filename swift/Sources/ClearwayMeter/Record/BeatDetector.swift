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
