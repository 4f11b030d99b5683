// SPDX-License-Identifier: MIT OR Apache-2.0

/// A value of a JSON text.
///
/// The meter has its own writer, because it does not import Foundation.
private indirect enum Json {
  case null
  case bool(Bool)
  case number(Double)
  case text(String)
  case list([Json])
  case object([(String, Json?)])

  func write(to out: inout String) {
    switch self {
    case .null: out += "null"
    case .bool(let value): out += value ? "true" : "false"
    // JSON has no infinite numbers. A report has none either.
    case .number(let value): out += value.isFinite ? plain(value) : "0"
    case .text(let text): quote(text, &out)
    case .list(let values):
      out += "["
      for (at, value) in values.enumerated() {
        if at > 0 { out += "," }
        value.write(to: &out)
      }
      out += "]"
    case .object(let members):
      out += "{"
      var isFirst = true
      for case (let key, let value?) in members {
        if !isFirst { out += "," }
        isFirst = false
        quote(key, &out)
        out += ":"
        value.write(to: &out)
      }
      out += "}"
    }
  }
}

private func quote(_ text: String, _ out: inout String) {
  out += "\""
  for scalar in text.unicodeScalars {
    switch scalar {
    case "\"", "\\":
      out += "\\"
      out.unicodeScalars.append(scalar)
    case "\u{0}"..."\u{1F}", "\u{2028}", "\u{2029}":
      let digits = String(scalar.value, radix: 16)
      out += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    default: out.unicodeScalars.append(scalar)
    }
  }
  out += "\""
}

/// Returns the report in the format of `spec/stalls.schema.json`.
///
/// The keys have the order of TypeScript's meter.
func jsonOf(_ report: StallReport) -> String {
  let value = Json.object([
    ("kind", .text(report.kind)), ("version", number(report.version)), ("host", .text(report.host)),
    ("label", report.label.map { .text($0) }), ("startedAt", .text(report.startedAt)),
    ("durationMs", .number(report.durationMs)), ("floorMs", .number(report.floorMs)),
    ("stalls", .list(report.stalls.map(json))), ("droppedStalls", number(report.droppedStalls)),
    ("longestMs", .number(report.longestMs)),
    ("ownLongestMs", .number(report.ownLongestMs)), ("lagMeanMs", .number(report.lagMeanMs)),
    ("lagMaxMs", .number(report.lagMaxMs)), ("stalledMs", .number(report.stalledMs)),
    ("stallsPerMinute", .number(report.stallsPerMinute)),
    (
      "waits",
      .list(
        report.waits.map {
          .object([("overMs", .number($0.overMs)), ("share", .number($0.share))])
        })
    ),
    ("hitch", json(report.hitch)), ("frames", json(report.frames)),
    (
      "worstSecond",
      .object([
        ("startMs", .number(report.worstSecond.startMs)),
        ("stalledMs", .number(report.worstSecond.stalledMs)),
      ])
    ),
    (
      "tail",
      .list(
        report.tail.map {
          .object([
            ("quantile", .number($0.quantile)),
            ("lengthMs", $0.lengthMs.map { .number($0) } ?? .null),
          ])
        })
    ),
    (
      "causes",
      .list(
        report.causes.map {
          .object([
            ("cause", .text($0.cause.rawValue)), ("stalls", number($0.stalls)),
            ("totalMs", .number($0.totalMs)), ("longestMs", .number($0.longestMs)),
          ])
        })
    ),
    (
      "sources",
      .list(
        report.sources.map {
          .object([
            ("name", .text($0.name)), ("available", .bool($0.available)),
            ("why", $0.why.map { .text($0) }),
          ])
        })
    ),
    ("hiddenMs", .number(report.hiddenMs)),
  ])
  var out = ""
  value.write(to: &out)
  return out
}

private func number(_ value: Int) -> Json { .number(Double(value)) }

/// Returns the report in the format of the `ping` of TypeScript's meter.
func jsonOf(_ report: PingReport) -> String {
  let trips = report.roundTripMs
  func quantile(_ value: Double?) -> Json { value.map { .number($0) } ?? .null }
  let value = Json.object([
    ("kind", .text("clearway-ping")), ("version", .number(1)),
    (
      "samples",
      .list(
        report.samples.map {
          .object([
            ("atMs", .number($0.atMs)), ("roundTripMs", .number($0.roundTripMs)),
            ("remoteTimeMs", $0.remoteTimeMs.map { .number($0) }),
          ])
        })
    ),
    (
      "roundTripMs",
      .object([
        ("n", .number(Double(trips.n))), ("min", .number(trips.min)), ("mean", .number(trips.mean)),
        ("max", .number(trips.max)), ("p50", quantile(trips.p50)), ("p90", quantile(trips.p90)),
        ("p99", quantile(trips.p99)),
      ])
    ),
    (
      "oneWay",
      report.oneWay.map {
        .object([
          ("clockOffsetMs", .number($0.clockOffsetMs)), ("errorMs", .number($0.errorMs)),
          ("thereMsMean", .number($0.thereMsMean)), ("backMsMean", .number($0.backMsMean)),
        ])
      }
    ),
  ])
  var out = ""
  value.write(to: &out)
  return out
}

private func json(_ hitch: HitchReport) -> Json {
  .object([
    ("hz", .number(hitch.hz)), ("msPerSecond", .number(hitch.msPerSecond)),
    (
      "verdicts",
      .object([
        ("strict", .text(hitch.verdicts.strict)), ("lenient", .text(hitch.verdicts.lenient)),
      ])
    ),
  ])
}

private func json(_ frames: FrameReport) -> Json {
  .object([
    ("hz", .number(frames.hz)), ("expected", number(frames.expected)),
    ("dropped", number(frames.dropped)),
    ("estimated", .bool(frames.estimated)),
  ])
}

private func json(_ stall: Stall) -> Json {
  .object([
    ("startMs", .number(stall.startMs)), ("lengthMs", .number(stall.lengthMs)),
    ("errorMs", .number(stall.errorMs)),
    ("cause", .text(stall.cause.rawValue)), ("because", .text(stall.because)),
    ("machineMs", .number(stall.machineMs)), ("gcMs", .number(stall.gcMs)), ("scripts", .list([])),
    (
      "stacks",
      .list(
        stall.stacks.map {
          .object([("frames", .list($0.frames.map { .text($0) })), ("seen", number($0.seen))])
        })
    ),
    (
      "marks",
      .list(
        stall.marks.map {
          .object([("label", .text($0.label)), ("overlapMs", .number($0.overlapMs))])
        })
    ),
  ])
}

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
