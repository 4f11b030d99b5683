// SPDX-License-Identifier: MIT OR Apache-2.0

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
    "stream-swift": pushKinds,
    "stream-published-swift": pushKinds,
    "growing-queue-swift": pushKinds,
    "chained-hops-swift": chainKinds,
  ]

  private static let codec = "codec-swift"
  private static let process = "channel-process-swift"

  private static var scenarios: String {
    (push.keys + [codec, process]).sorted().joined(separator: ", ")
  }

  static var entries: [Entry] {
    LabCodecs.names.map { Entry(scenario: codec, mechanism: $0, unavailable: nil) }
      + Callers.names.map { Entry(scenario: process, mechanism: $0, unavailable: nil) }
      + push.keys.sorted().flatMap { scenario in
        push[scenario, default: []].map { kind in
          Entry(scenario: scenario, mechanism: kind.name, unavailable: kind.unavailable)
        }
      }
  }

  /// Measures a cell.
  ///
  /// Blocks. If there is no such cell, the error lists the known ones.
  static func measure(_ cell: Cell) throws -> Measured {
    if cell.scenario == codec { return try measureCodec(cell) }
    if cell.scenario == process { return try measureCalls(cell) }
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
