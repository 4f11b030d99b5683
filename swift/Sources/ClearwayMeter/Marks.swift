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
  func during(_ thread: UInt?, _ fromMs: Double, _ untilMs: Double) -> [MarkShare] {
    let entries = state.with { $0.closed + $0.open.values }
    var overlaps: [String: Double] = [:]
    for entry in entries where entry.thread == thread {
      let overlapMs = min(untilMs, entry.endMs) - max(fromMs, entry.startMs)
      if overlapMs > 0 { overlaps[entry.label] = max(overlaps[entry.label] ?? 0, overlapMs) }
    }
    return overlaps.map { MarkShare(label: $0.key, overlapMs: $0.value) }
      .sorted { ($1.overlapMs, $0.label) < ($0.overlapMs, $1.label) }
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
