// SPDX-License-Identifier: MIT OR Apache-2.0
import Foundation
#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The operations of a runner.
///
/// An error of an operation becomes an error answer.
protocol Operations: Sendable {
  func describe() throws -> JSON
  func measure(_ cell: Cell) throws -> Measured
}

/// Returns the answer to one request, as one line.
///
/// An error of the operation is an answer, too.
func answer(to line: String, by operations: some Operations) -> String {
  var id = JSON.number(0)
  do {
    let request = try parsed(line)
    id = request["id"] ?? id
    let result = try perform(request, by: operations)
    return JSON.object(["id": id, "ok": .bool(true), "result": result]).line()
  } catch {
    let message = JSON.object(["message": .string(String(describing: error))])
    return JSON.object(["id": id, "ok": .bool(false), "error": message]).line()
  }
}

private func parsed(_ line: String) throws -> JSON {
  guard let request = try? JSON(parsing: line), case .object = request else {
    throw LabError("the request is no JSON object: \(line.prefix(40))")
  }
  return request
}

private func perform(_ request: JSON, by operations: some Operations) throws -> JSON {
  func cell() throws -> Cell {
    guard let cell = request["cell"] else { throw LabError("the request has no cell") }
    return try Cell(cell)
  }
  switch request["op"]?.text {
  case "describe": return try operations.describe()
  case "measure": return try operations.measure(cell()).json
  case "verify":
    return .object(["verified": .bool(true), "result": try operations.measure(cell()).result])
  case let op:
    throw LabError("unknown operation: op=\(op ?? "absent") (describe, verify, measure)")
  }
}

/// A failure with a sentence for the reader of the lab's report.
struct LabError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}

/// One measurement, as the lab sends it to a runner (docs/lab/runner-protocol.md).
struct Cell: Sendable {
  let scenario: String
  let mechanism: String
  let params: [String: JSON]

  init(_ json: JSON) throws {
    func word(_ name: String) throws -> String {
      guard let text = json[name]?.text else { throw LabError("the cell must have text: \(name)") }
      return text
    }
    scenario = try word("scenario")
    mechanism = try word("mechanism")
    if case .object(let params) = json["params"] { self.params = params } else { params = [:] }
  }

  func number(_ name: String) throws -> Double {
    guard case .number(let value) = params[name] else {
      throw LabError("the parameter must be a number: \(name)=\(params[name]?.line() ?? "absent")")
    }
    return value
  }

  /// Returns a whole number that is at least `least`.
  func int(_ name: String, atLeast least: Int) throws -> Int {
    let value = try number(name)
    guard let whole = Int(exactly: value), whole >= least else {
      throw LabError("the parameter must be a whole number from \(least) on: \(name)=\(value)")
    }
    return whole
  }

  /// Returns one of the allowed texts.
  ///
  /// A missing parameter is the first of them.
  func text(_ name: String, among allowed: [String]) throws -> String {
    guard let value = params[name] else { return allowed[0] }
    guard let text = value.text, allowed.contains(text) else {
      let known = allowed.joined(separator: ", ")
      throw LabError("no such value of a parameter: \(name)=\(value.line()) (\(known))")
    }
    return text
  }
}

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

/// Returns the steady clock's time in nanoseconds.
@inline(__always)
func nowNs() -> Int64 {
  #if canImport(Darwin)
    return Int64(clock_gettime_nsec_np(CLOCK_UPTIME_RAW))
  #else
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  #endif
}

/// Blocks the thread for `ns`.
///
/// Goes on sleeping after a signal.
func sleepNs(_ ns: Int64) {
  guard ns > 0 else { return }
  var left = timespec(tv_sec: Int(ns / 1_000_000_000), tv_nsec: Int(ns % 1_000_000_000))
  var rest = timespec()
  while nanosleep(&left, &rest) != 0 && errno == EINTR { left = rest }
}

/// Returns the smallest step between two readings of the clock, in microseconds.
func clockStepUs() -> Double {
  var smallest = Int64.max
  for _ in 0..<200 {
    let begin = nowNs()
    var next = begin
    while next == begin { next = nowNs() }
    smallest = min(smallest, next - begin)
  }
  return Double(smallest) / 1000
}
