// SPDX-License-Identifier: MIT OR Apache-2.0

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
