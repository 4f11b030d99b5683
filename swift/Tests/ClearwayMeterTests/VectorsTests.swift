// SPDX-License-Identifier: MIT OR Apache-2.0
import ClearwayThreads
import Foundation
import Testing

@testable import ClearwayMeter

/// Checks the meter against spec/vectors/meter.json.
///
/// The meters of the other languages pass the same vectors.
@Suite("The meter")
struct VectorsTests {
  private static let root = URL(fileURLWithPath: #filePath).appending(path: "../../../..")
    .standardized

  private let vectors: [String: Any]

  init() throws {
    let data = try Data(contentsOf: Self.root.appending(path: "spec/vectors/meter.json"))
    vectors = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
  }

  private func cases(_ name: String) throws -> [[String: Any]] {
    let cases = try #require(vectors[name] as? [[String: Any]])
    #expect(!cases.isEmpty)
    return cases
  }

  private func decoded<Value: Decodable>(_ type: Value.Type, _ json: Any?) throws -> Value {
    try JSONDecoder().decode(type, from: JSONSerialization.data(withJSONObject: try #require(json)))
  }

  private func number(_ json: Any?) throws -> Double { try #require(json as? NSNumber).doubleValue }

  @Test("computes the report of each run of the vectors")
  func reports() throws {
    for each in try cases("reports") {
      let run = try #require(each["run"] as? [String: Any])
      // Only pages have a time in which they are hidden.
      guard try number(run["hiddenMs"]) == 0 else { continue }
      let facts = RunFacts(
        host: try #require(run["host"] as? String), label: run["label"] as? String,
        startedAt: try #require(run["startedAt"] as? String),
        durationMs: try number(run["durationMs"]),
        hz: try number(run["hz"]), floorMs: try number(run["floorMs"]),
        stalls: try decoded([Stall].self, run["stalls"]),
        droppedStalls: Int(try number(run["droppedStalls"])),
        sources: try decoded([SourceState].self, run["sources"]))
      var expected = try #require(each["report"] as? [String: Any])
      expected["stalls"] = run["stalls"]
      if (expected["frames"] as? [String: Any])?["estimated"] as? Bool == false { continue }
      let written = try JSONSerialization.jsonObject(with: Data(summarize(facts).json.utf8))
      #expect(close(written) == close(expected), "\(each["name"] ?? "")")
    }
  }

  @Test("bounds the clocks' offset by the round trips of the vectors")
  func offsets() throws {
    for each in try cases("offsets") {
      let trips = try #require(each["trips"] as? [[Double]])
      let offset = bestOffset(trips.map { Trip(sentMs: $0[0], remoteMs: $0[1], backMs: $0[2]) })
      let expected = each["offset"] as? [String: Any]
      #expect((offset == nil) == (expected == nil))
      guard let offset, let expected else { continue }
      let (offsetMs, errorMs) = (
        try number(expected["offsetMs"]), try number(expected["errorMs"])
      )
      #expect(offset.offsetMs == offsetMs, "\(each["name"] ?? "")")
      #expect(offset.errorMs == errorMs, "\(each["name"] ?? "")")
    }
  }

  @Test("finds the stalls of each line of beats of the vectors")
  func beats() throws {
    for each in try cases("beats") {
      var detector = BeatDetector(floorMs: try number(each["floorMs"]))
      var found: [DetectedStall] = []
      for step in try #require(each["steps"] as? [[Any]]) {
        switch step[0] as? String {
        case "restart": detector.restart(try number(step[1]))
        case "held": detector.blocked(until: try number(step[1]))
        default:
          if let stall = detector.beat(
            sentMs: try number(step[1]), answeredMs: try number(step[2]),
            wokeLateMs: try number(step[3]))
          {
            found.append(stall)
          }
        }
      }
      let expected = try #require(each["found"] as? [[String: Any]]).map {
        DetectedStall(
          startMs: try number($0["startMs"]), endMs: try number($0["endMs"]),
          earliestMs: try number($0["earliestMs"]),
          errorMs: try number($0["errorMs"]), continuesLast: try #require($0["goesOn"] as? Bool))
      }
      #expect(found == expected, "\(each["name"] ?? "")")
    }
  }

  @Test("names the cause of each piece of evidence of the vectors")
  func causes() throws {
    for each in try cases("causes") {
      let json = try #require(each["evidence"] as? [String: Any])
      let evidence = Evidence(
        lengthMs: try number(json["lengthMs"]), machineMs: try number(json["machineMs"]),
        queued: json["queued"] as? Bool ?? false,
        unwokenMs: (json["unwokenMs"] as? NSNumber)?.doubleValue ?? 0,
        gcMs: try number(json["gcMs"]), call: json["call"] as? String,
        stacks: try decoded([StackSample].self, json["stacks"]),
        marks: try decoded([MarkShare].self, json["marks"]),
        noWatcher: json["noWatcher"] as? String, gcSeen: try #require(json["gcSeen"] as? Bool))
      let (cause, because) = causeOf(evidence)
      #expect(cause.rawValue == each["cause"] as? String)
      #expect(because == each["because"] as? String)
    }
  }

  @Test("counts the runs of marks of each interval of the vectors")
  func marks() throws {
    for each in try cases("marks") {
      let nowMs = Locked(0.0)
      let marks = Marks { nowMs.with { $0 } }
      let runs = try #require(each["runs"] as? [[Any]])
      var ids: [Int] = []
      for run in runs {
        let startMs = try number(run[1])
        nowMs.with { $0 = startMs }
        ids.append(marks.open(try #require(run[0] as? String)))
      }
      for (run, id) in zip(runs, ids) where !(run[2] is NSNull) {
        let endMs = try number(run[2])
        nowMs.with { $0 = endMs }
        marks.close(id)
      }
      let fromMs = try number(each["fromMs"])
      let untilMs = try number(each["untilMs"])
      let expected = try #require(each["shares"] as? [[Any]]).map {
        MarkShare(label: try #require($0[0] as? String), overlapMs: try number($0[1]))
      }
      let found = marks.during(currentThreadId(), fromMs, untilMs)
      #expect(found == expected, "\(each["name"] ?? "")")
    }
  }

  @Test("writes the same report by its own writer and by an encoder")
  func writers() throws {
    for each in try cases("reports") {
      let run = try #require(each["run"] as? [String: Any])
      let facts = RunFacts(
        label: "a \"label\"\u{1}\u{2028}", startedAt: "", durationMs: 1000, hz: 60, floorMs: 4,
        stalls: try decoded([Stall].self, run["stalls"]),
        sources: [SourceState(name: "x", available: false, why: "y")])
      let report = summarize(facts)
      let own = try JSONSerialization.jsonObject(with: Data(report.json.utf8))
      let encoded = try JSONSerialization.jsonObject(with: JSONEncoder().encode(report))
      #expect(close(own) == close(encoded))
      #expect(
        try JSONDecoder().decode(StallReport.self, from: Data(report.json.utf8)).stalls.count
          == facts.stalls.count)
    }
  }

  @Test("writes a host and keys that the schema allows")
  func schema() throws {
    let data = try Data(contentsOf: Self.root.appending(path: "spec/stalls.schema.json"))
    let schema = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    let properties = try #require(schema["properties"] as? [String: Any])
    let hosts = (properties["host"] as? [String: Any])?["enum"] as? [String]
    let facts = RunFacts(startedAt: "", durationMs: 1, hz: 60, floorMs: 4, stalls: [], sources: [])
    let report = summarize(facts)
    #expect(hosts?.contains(report.host) == true)
    let written = try #require(
      try JSONSerialization.jsonObject(with: Data(report.json.utf8)) as? [String: Any])
    #expect(Set(try #require(schema["required"] as? [String])) == Set(written.keys))
  }

  /// Writes a value of JSON with sorted keys, and its numbers with nine digits.
  ///
  /// Sums in another order differ in later ones.
  private func close(_ json: Any) -> String {
    switch json {
    case let object as [String: Any]:
      return "{" + object.keys.sorted().map { "\($0):\(close(object[$0]!))" }.joined(separator: ",")
        + "}"
    case let list as [Any]: return "[" + list.map(close).joined(separator: ",") + "]"
    case let number as NSNumber: return String(format: "%.9g", number.doubleValue)
    default: return "\(json)"
    }
  }
}
