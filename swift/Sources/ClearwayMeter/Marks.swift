// SPDX-License-Identifier: MIT OR Apache-2.0
import ClearwayThreads

/// Records which labels were open, when, and on which thread.
final class Marks: Sendable {
  struct Entry {
    let label: String
    let thread: UInt
    let startMs: Double
    var endMs = Double.infinity
  }

  private struct State: Sendable {
    var open: [Int: Entry] = [:]
    var closed: [Entry] = []
    var nextId = 0
    var nextSlot = 0
  }

  /// Maximum number of closed marks that are kept for stalls that are not explained yet.
  private static let closedMax = 512

  private let state = Locked(State())
  private let nowMs: @Sendable () -> Double

  init(nowMs: @escaping @Sendable () -> Double) { self.nowMs = nowMs }

  func open(_ label: String) -> Int {
    let entry = Entry(label: label, thread: currentThreadId(), startMs: nowMs())
    return state.with { state in
      state.nextId += 1
      state.open[state.nextId] = entry
      return state.nextId
    }
  }

  func close(_ id: Int) {
    let endMs = nowMs()
    state.with { state in
      guard var entry = state.open.removeValue(forKey: id) else { return }
      entry.endMs = endMs
      if state.closed.count < Self.closedMax {
        state.closed.append(entry)
      } else {
        state.closed[state.nextSlot] = entry
      }
      state.nextSlot = (state.nextSlot + 1) % Self.closedMax
    }
  }

  /// Returns the marks of `thread` that were open between two moments, the longest overlap first.
  ///
  /// Time in several marks of one label counts once.
  func during(_ thread: UInt?, _ fromMs: Double, _ untilMs: Double) -> [MarkShare] {
    let entries = state.with { $0.closed + $0.open.values }.filter { $0.thread == thread }
    var shares: [String: Share] = [:]
    for entry in entries.sorted(by: { $0.startMs < $1.startMs }) {
      let endMs = min(untilMs, entry.endMs)
      var share = shares[entry.label] ?? Share(coveredMs: fromMs)
      let gainMs = endMs - max(share.coveredMs, entry.startMs)
      guard gainMs > 0 else { continue }
      share.overlapMs += gainMs
      share.coveredMs = endMs
      shares[entry.label] = share
    }
    return shares.map { MarkShare(label: $0.key, overlapMs: $0.value.overlapMs) }
      .sorted { ($1.overlapMs, $0.label) < ($0.overlapMs, $1.label) }
  }

  /// How long a label was open. All marks with the label are counted up to the moment `coveredMs`.
  private struct Share {
    var coveredMs: Double
    var overlapMs = 0.0
  }
}

/// An open label of a thread.
///
/// ``end()`` closes it, and so does the end of the value's life.
public struct Mark: ~Copyable {
  private let marks: Marks
  private let id: Int

  init(_ marks: Marks, _ label: String) {
    self.marks = marks
    id = marks.open(label)
  }

  deinit { marks.close(id) }

  public consuming func end() {}
}

/// An interval with a value.
struct Span<Value> {
  let startMs: Double
  let endMs: Double
  let value: Value

  /// Returns the length of the overlap with an interval, in ms.
  ///
  /// Negative if they do not overlap.
  func overlapMs(_ fromMs: Double, _ untilMs: Double) -> Double {
    min(untilMs, endMs) - max(fromMs, startMs)
  }
}

/// A ring buffer of intervals, which limits the memory of a long run.
struct SpanRing<Value> {
  private let spansMax: Int
  private var kept: [Span<Value>] = []
  private var next = 0

  init(spansMax: Int) { self.spansMax = spansMax }

  mutating func add(_ startMs: Double, _ endMs: Double, _ value: Value) {
    let span = Span(startMs: startMs, endMs: endMs, value: value)
    if kept.count < spansMax { kept.append(span) } else { kept[next] = span }
    next = (next + 1) % spansMax
  }

  /// Returns the intervals that overlap or touch the given one.
  func during(_ fromMs: Double, _ untilMs: Double) -> [Span<Value>] {
    kept.filter { $0.overlapMs(fromMs, untilMs) >= 0 }
  }

  /// Returns the sum of the overlaps with an interval, in ms, at most the length of that interval.
  func overlapMs(_ fromMs: Double, _ untilMs: Double) -> Double {
    let total = during(fromMs, untilMs).reduce(0) { $0 + $1.overlapMs(fromMs, untilMs) }
    return min(total, max(0, untilMs - fromMs))
  }
}
