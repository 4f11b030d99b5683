// SPDX-License-Identifier: MIT OR Apache-2.0

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
