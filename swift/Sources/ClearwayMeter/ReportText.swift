// SPDX-License-Identifier: MIT OR Apache-2.0

/// Formats a number with `digits` decimals.
///
/// Rounds half up.
func fixed(_ value: Double, _ digits: Int) -> String {
  let scale = digits == 0 ? 1.0 : digits == 1 ? 10.0 : 100.0
  let scaled = (value.magnitude * scale).rounded(.toNearestOrAwayFromZero)
  guard scaled < 9e15 else { return "\(value)" }
  let whole = Int(scaled)
  let sign = value < 0 && whole > 0 ? "-" : ""
  guard digits > 0 else { return "\(sign)\(whole)" }
  let fraction = String(whole % Int(scale))
  return
    "\(sign)\(whole / Int(scale)).\(String(repeating: "0", count: digits - fraction.count))\(fraction)"
}

func inMs(_ value: Double) -> String {
  "\(fixed(value, value >= 100 ? 0 : value >= 10 ? 1 : 2)) ms"
}

private func inPercent(_ share: Double) -> String {
  "\(fixed(share * 100, share >= 0.1 ? 0 : 2)) %"
}

/// A whole number without a decimal point.
func plain(_ value: Double) -> String {
  value == value.rounded() && value.magnitude < 1e15 ? String(Int(value)) : "\(value)"
}

private let stallsShown = 5

/// Returns the same lines as TypeScript's `formatReport`, without a trailing line break.
func textOf(_ report: StallReport) -> String {
  let hitch = report.hitch
  let frames = report.frames
  let rows = [
    ("total time", inMs(report.durationMs)),
    ("longest stall", longest(report)),
    ("mean lag", "\(inMs(report.lagMeanMs)) for an event at a random moment"),
    (
      "hitches at \(plain(hitch.hz)) Hz",
      "\(fixed(hitch.msPerSecond, 1)) ms/s: \(hitch.verdicts.strict) (newer scale: \(hitch.verdicts.lenient))"
    ),
    (
      "dropped frames",
      "\(frames.dropped) of \(frames.expected) at \(plain(frames.hz)) Hz\(frames.estimated ? ", estimated" : "")"
    ),
    ("waits", waits(report)),
    (
      "worst second",
      "\(inMs(report.worstSecond.stalledMs)) stalled, from \(inMs(report.worstSecond.startMs)) on"
    ),
    ("stalls", stalls(report)),
  ]
  let width = rows.map(\.0.count).max() ?? 0
  var lines = [headline(report)]
  lines += rows.map { "  \(padded($0.0, to: width))  \($0.1)" }
  lines += report.stalls.sorted { $0.lengthMs > $1.lengthMs }.prefix(stallsShown).map {
    "    \(line($0))"
  }
  lines += report.sources.filter { !$0.available }.map {
    "  not seen: \($0.name) (\($0.why ?? "no reason known"))"
  }
  if report.droppedStalls > 0 {
    lines.append(
      "  \(report.droppedStalls) older stalls were dropped; all figures are of the time after them")
  }
  return lines.joined(separator: "\n")
}

private func padded(_ text: String, to width: Int) -> String {
  text + String(repeating: " ", count: max(0, width - text.count))
}

// The machine's stalls say nothing about the app, so a longer one of theirs comes second.
private func longest(_ report: StallReport) -> String {
  let own = inMs(report.ownLongestMs)
  return report.longestMs > report.ownLongestMs
    ? "\(own) (with delays by the machine: \(inMs(report.longestMs)))" : own
}

private func headline(_ report: StallReport) -> String {
  let name = report.label ?? "This thread"
  if report.stalls.isEmpty { return "\(name): never held for \(inMs(report.floorMs)) or longer." }
  let times = report.stalls.count == 1 ? "once" : "\(report.stalls.count) times"
  return "\(name): held \(times), \(inMs(report.stalledMs)) of \(inMs(report.durationMs)), "
    + "at most \(longest(report)) at a time."
}

private func waits(_ report: StallReport) -> String {
  let shares = report.waits.filter { $0.share > 0 }.map {
    "\(inPercent($0.share)) over \(inMs($0.overMs))"
  }
  return shares.isEmpty ? "none over 8.33 ms" : shares.joined(separator: ", ")
}

private func stalls(_ report: StallReport) -> String {
  var parts = ["\(report.stalls.count) of \(inMs(report.floorMs)) or longer"]
  parts += report.causes.map { "\($0.cause.rawValue) \($0.stalls) (\(inMs($0.totalMs)))" }
  for each in report.tail {
    guard let lengthMs = each.lengthMs else { continue }
    let quantile = fixed(each.quantile * 100, 1)
    parts.append(
      "p\(quantile.hasSuffix(".0") ? String(quantile.dropLast(2)) : quantile) \(inMs(lengthMs))")
  }
  return parts.joined(separator: ", ")
}

private func line(_ stall: Stall) -> String {
  let length = inMs(stall.lengthMs)
  let marks = stall.marks.isEmpty ? "" : " [\(stall.marks.map(\.label).joined(separator: ", "))]"
  return String(repeating: " ", count: max(0, 8 - length.count)) + length
    + " at \(inMs(stall.startMs)): \(stall.cause.rawValue): \(stall.because)\(marks)"
}
