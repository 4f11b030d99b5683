// SPDX-License-Identifier: MIT OR Apache-2.0
import Foundation

/// All mechanisms that this runner can measure, by scenario.
enum Registry {
  /// A mechanism of a scenario.
  ///
  /// `unavailable` says why it cannot run here, or is `nil` if it can.
  struct Entry: Sendable {
    let scenario: String
    let mechanism: String
    let unavailable: String?
  }

  private static let push: [String: [PushKind]] = [
    "stream-published-swift": pushKinds,
    "growing-queue-swift": pushKinds,
    "chained-hops-swift": chainKinds,
  ]

  /// The scenarios of other families: their mechanisms, why they cannot run, and how they are measured.
  private struct Other: Sendable {
    let names: [String]
    var problem: @Sendable (String) -> String? = { _ in nil }
    let measure: @Sendable (Cell) throws -> Measured
  }

  private static let others: [String: Other] = [
    "codec-swift": Other(names: LabCodecs.names, measure: measureCodec),
    "channel-process-swift": Other(names: Callers.names, measure: measureCalls),
    "channel-native-swift": Other(
      names: [Callers.plugin], problem: { _ in ExamplePlugin.problem }, measure: measureCalls),
    "memset-swift": Other(
      names: Fillers.names, problem: Fillers.problem, measure: measureFills),
  ]

  private static var scenarios: String {
    (Array(push.keys) + others.keys).sorted().joined(separator: ", ")
  }

  static var entries: [Entry] {
    let pushed = push.flatMap { scenario, kinds in
      kinds.map { Entry(scenario: scenario, mechanism: $0.name, unavailable: $0.unavailable) }
    }
    let rest = others.flatMap { scenario, other in
      other.names.map {
        Entry(scenario: scenario, mechanism: $0, unavailable: other.problem($0))
      }
    }
    return pushed + rest
  }

  /// Measures a cell.
  ///
  /// Blocks. If there is no such cell, the error lists the known ones.
  static func measure(_ cell: Cell) throws -> Measured {
    if let other = others[cell.scenario] {
      if let reason = other.problem(cell.mechanism) { throw LabError(reason) }
      return try other.measure(cell)
    }
    guard let kinds = push[cell.scenario] else {
      throw LabError("no such scenario on this host: scenario=\(cell.scenario) (\(scenarios))")
    }
    guard let kind = kinds.first(where: { $0.name == cell.mechanism }) else {
      let known = kinds.map(\.name).joined(separator: ", ")
      throw LabError("no such mechanism: mechanism=\(cell.mechanism) (\(known))")
    }
    if let reason = kind.unavailable { throw LabError(reason) }
    return try measurePush(kind, cell)
  }
}

/// The lab's runner for Swift: the operations of docs/lab/runner-protocol.md.
struct Runner: Operations {
  func describe() -> JSON {
    let mechanisms = Registry.entries.map { entry in
      var members: [String: JSON] = [
        "scenario": .string(entry.scenario), "mechanism": .string(entry.mechanism),
      ]
      if let reason = entry.unavailable { members["unavailable"] = .string(reason) }
      return JSON.object(members)
    }
    return .object([
      "protocol": .number(1), "host": .string("swift"), "runtime": .string(Self.runtime),
      "fresh": .string("process"), "crossOriginIsolated": .bool(true),
      "clockStepUs": .number(clockStepUs()), "mechanisms": .array(mechanisms),
    ])
  }

  func measure(_ cell: Cell) throws -> Measured {
    try Registry.measure(cell)
  }

  /// The compiler's version, which the build tells, and how the runner was built.
  private static var runtime: String {
    let version = ProcessInfo.processInfo.environment["CLEARWAY_LAB_SWIFT_VERSION"] ?? "Swift"
    #if DEBUG
      return "\(version), built without optimisation"
    #else
      return "\(version), -O"
    #endif
  }
}
