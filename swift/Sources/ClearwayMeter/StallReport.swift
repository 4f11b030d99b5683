// SPDX-License-Identifier: MIT OR Apache-2.0

/// The cause of a stall.
public enum StallCause: String, Sendable, CaseIterable, Codable {
  /// The thread ran the app's own code, or blocked in it.
  case app
  /// Garbage collection.
  ///
  /// Swift has none; reports of other languages have it.
  case gc
  /// The operating system did not run the thread.
  case machine
  /// No source of evidence could name a cause.
  ///
  /// ``Stall/because`` names the missing sources.
  case unknown
}

/// A part of the page's script.
///
/// Swift's meter records none; the report's format has the field.
public struct ScriptShare: Sendable, Hashable, Codable {
  public let url, functionName, invoker: String
  public let durationMs, layoutMs: Double
}

/// A stack of the blocked thread.
///
/// Swift's meter records none; the report's format has the field.
public struct StackSample: Sendable, Hashable, Codable {
  public let frames: [String]
  public let seen: Int
}

/// A mark that was open during a stall, and the length of the overlap.
public struct MarkShare: Sendable, Hashable, Codable {
  public let label: String
  public let overlapMs: Double
}

/// An interval in which the thread could not answer an event.
///
/// Times are in ms.
public struct Stall: Sendable, Hashable, Codable {
  /// Start of the stall, counted from the start of the run.
  public let startMs: Double
  public let lengthMs: Double
  /// Error bound: the true length is ``lengthMs`` plus or minus this.
  public let errorMs: Double
  public let cause: StallCause
  /// The reason for ``cause``, as one sentence.
  public let because: String
  /// Time in which the machine kept the thread from running during this stall, as far as the meter
  /// can observe it.
  public let machineMs: Double
  public let gcMs: Double
  public let scripts: [ScriptShare]
  public let stacks: [StackSample]
  /// The marks that were open, the longest overlap first.
  public let marks: [MarkShare]
}

/// Verdicts on a hitch ratio, by the two published scales.
public struct HitchVerdicts: Sendable, Hashable, Codable {
  /// `good` up to 5 ms/s, `warning` up to 10, and `critical` above 10.
  public let strict: String
  /// `good` up to 10 ms/s, `fair` up to 25, `poor` up to 50, and `critical` above 50.
  public let lenient: String
}

/// The hitch ratio: milliseconds by which frames are late per second of the run, at `hz` frames per
/// second.
public struct HitchReport: Sendable, Hashable, Codable {
  public let hz, msPerSecond: Double
  public let verdicts: HitchVerdicts
}

/// The number of frames that fit into the run, and the number that its stalls probably dropped.
public struct FrameReport: Sendable, Hashable, Codable {
  public let hz: Double
  public let expected, dropped: Int
  /// Always true in Swift's reports: the meter computes ``dropped`` from the stalls.
  public let estimated: Bool
}

/// Probability, from 0 to 1, that an event at a random moment waits longer than ``overMs``.
public struct WaitShare: Sendable, Hashable, Codable {
  public let overMs, share: Double
}

/// A quantile of the stall lengths.
///
/// ``lengthMs`` is nil if fewer than 20 stalls lie beyond the quantile.
public struct TailQuantile: Sendable, Hashable, Codable {
  public let quantile: Double
  public let lengthMs: Double?

  // The format writes null for an unknown length. The synthesised function would leave the key out.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(quantile, forKey: .quantile)
    try container.encode(lengthMs, forKey: .lengthMs)
  }
}

/// The stalls with one cause: their number, the sum of their lengths, and the longest.
public struct CauseShare: Sendable, Hashable, Codable {
  public let cause: StallCause
  public let stalls: Int
  public let totalMs: Double
  public let longestMs: Double
}

/// A source of evidence about stalls, and whether it was available.
///
/// If not, ``why`` gives the reason.
public struct SourceState: Sendable, Hashable, Codable {
  public let name: String
  public let available: Bool
  public var why: String? = nil
}

/// The second of the run with the most stalled time.
///
/// It may start at any moment.
public struct WorstSecond: Sendable, Hashable, Codable {
  public let startMs, stalledMs: Double
}

/// The stalls of one run, and all figures that are computed from them.
///
/// Every length is in milliseconds; `startMs` counts from ``startedAt``. Encoded by any JSON
/// encoder, a report has the format of `spec/stalls.schema.json`, which the meters of all languages
/// write. ``json`` writes it without Foundation.
public struct StallReport: Sendable, Hashable, Codable, CustomStringConvertible {
  public private(set) var kind = "clearway-stalls"
  public private(set) var version = 1
  /// The kind of host: `swift`.
  public let host: String
  public let label: String?
  /// Start of the run, in ISO 8601, UTC.
  public let startedAt: String
  /// Length of the time that ``stalls`` covers.
  ///
  /// Called T below.
  public let durationMs: Double
  /// Length of the shortest stall that is recorded.
  public let floorMs: Double
  /// Every recorded stall of the covered time, in chronological order.
  public let stalls: [Stall]
  /// Number of stalls that were dropped to limit the memory.
  ///
  /// The covered time starts after the last of them.
  public let droppedStalls: Int
  public let longestMs: Double
  /// The longest stall for which the app is responsible.
  ///
  /// Of a stall that the machine caused, it counts the time without `machineMs`.
  public let ownLongestMs: Double
  /// Mean wait of an event that arrives at a random moment: the sum of b^2 / 2T over all stalls b.
  public let lagMeanMs: Double
  /// Longest possible wait of an event.
  public let lagMaxMs: Double
  /// Sum of all stall lengths.
  public let stalledMs: Double
  public let stallsPerMinute: Double
  public let waits: [WaitShare]
  public let hitch: HitchReport
  public let frames: FrameReport
  public let worstSecond: WorstSecond
  public let tail: [TailQuantile]
  public let causes: [CauseShare]
  public let sources: [SourceState]
  /// Time in which a page was hidden: always 0 here.
  public private(set) var hiddenMs = 0.0

  init(
    host: String, label: String?, startedAt: String, durationMs: Double, floorMs: Double,
    stalls: [Stall],
    droppedStalls: Int, longestMs: Double, ownLongestMs: Double, lagMeanMs: Double,
    stalledMs: Double,
    stallsPerMinute: Double,
    waits: [WaitShare], hitch: HitchReport, frames: FrameReport, worstSecond: WorstSecond,
    tail: [TailQuantile],
    causes: [CauseShare], sources: [SourceState]
  ) {
    self.host = host
    self.label = label
    self.startedAt = startedAt
    self.durationMs = durationMs
    self.floorMs = floorMs
    self.stalls = stalls
    self.droppedStalls = droppedStalls
    self.longestMs = longestMs
    self.ownLongestMs = ownLongestMs
    self.lagMeanMs = lagMeanMs
    self.lagMaxMs = longestMs
    self.stalledMs = stalledMs
    self.stallsPerMinute = stallsPerMinute
    self.waits = waits
    self.hitch = hitch
    self.frames = frames
    self.worstSecond = worstSecond
    self.tail = tail
    self.causes = causes
    self.sources = sources
  }

  /// The report as one JSON object, without line breaks.
  public var json: String { jsonOf(self) }

  /// The report as text for a terminal: a sentence, the figures, and the five longest stalls with
  /// their causes.
  public var description: String { textOf(self) }
}
