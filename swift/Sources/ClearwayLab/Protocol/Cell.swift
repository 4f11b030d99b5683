// SPDX-License-Identifier: MIT OR Apache-2.0

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
