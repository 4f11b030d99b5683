// SPDX-License-Identifier: MIT OR Apache-2.0

/// The samples of one round, in nanoseconds.
///
/// Reports show them in `unit`.
struct Samples: Sendable {
  let unit: String
  let ns: [Int64]

  /// The number of operations that each sample is the mean of.
  var batch = 1

  var json: JSON {
    var members: [String: JSON] = [
      "unit": .string(unit), "n": .number(Double(ns.count)),
      // A clock may step back by its granularity between two threads. Such a sample counts as 1 ns.
      "raw": .array(ns.map { .number(Double(max(1, $0))) }),
    ]
    if batch > 1 { members["batch"] = .number(Double(batch)) }
    return .object(members)
  }
}

struct Figure: Sendable {
  let unit: String
  let value: Double
}

/// The result of one measurement.
///
/// The lab compares `result` with what the scenario expects.
struct Measured: Sendable {
  var samples: [String: Samples] = [:]
  var values: [String: Figure] = [:]
  var result: JSON
  var notes: [String] = []

  var json: JSON {
    .object([
      "samples": .object(samples.mapValues(\.json)),
      "values": .object(
        values.mapValues { .object(["unit": .string($0.unit), "value": .number($0.value)]) }),
      "result": result,
      "notes": .array(notes.map { .string($0) }),
    ])
  }
}
