// SPDX-License-Identifier: MIT OR Apache-2.0

import ClearwayChannel

/// A frame's report of one command that it shows. The times are durations on the server's clock.
struct Shown {
  let command: Int
  /// From the command's arrival at the server to the sending of the frame.
  let keptMs: Double
  /// The part of it in which native code drew.
  let nativeMs: Double

  static func all(in frame: Value) -> [Shown] {
    guard case .doubles(let numbers) = frame["shown"] else { return [] }
    return stride(from: 0, to: numbers.count - 2, by: 3).map {
      Shown(command: Int(numbers[$0]), keptMs: numbers[$0 + 1], nativeMs: numbers[$0 + 2])
    }
  }
}

/// Splits round trips into their parts, without comparing two clocks: the server says how long it
/// kept a command, this end measures the whole, and the rest is the network's.
struct Meter {
  private var rows: [String: [Double]] = [:]
  private var frames = 0
  private var bytes = 0
  private var firstFrame: Int64?
  private var lastFrame: Int64 = 0

  var trips: Int { rows["whole"]?.count ?? 0 }

  mutating func countFrame(number: Int64, bytes: Int) {
    frames += 1
    self.bytes += bytes
    firstFrame = firstFrame ?? number
    lastFrame = number
  }

  mutating func add(_ shown: Shown, whole: Double) {
    rows["whole", default: []].append(whole)
    rows["network", default: []].append(max(0, whole - shown.keptMs))
    rows["queue", default: []].append(max(0, shown.keptMs - shown.nativeMs))
    rows["native", default: []].append(shown.nativeMs)
  }

  mutating func addPing(_ ms: Double) { rows["ping", default: []].append(ms) }

  /// The medians and counts as a line of JSON.
  func line(label: String) -> String {
    var line: ValueMap = ["label": .string(label)]
    for (name, values) in rows.sorted(by: { $0.key < $1.key }) {
      line[name] = .double(values.sorted()[values.count / 2])
    }
    line["trips"] = .int(Int64(trips))
    line["frames"] = .int(Int64(frames))
    line["bytes"] = .int(Int64(bytes))
    line["dropped"] = .int(lastFrame - (firstFrame ?? 0) + 1 - Int64(frames))
    let text = try? JSONMessageCodec().encode(.map(line))
    return String(decoding: text ?? [], as: UTF8.self)
  }
}
