// SPDX-License-Identifier: MIT OR Apache-2.0
import Foundation

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
