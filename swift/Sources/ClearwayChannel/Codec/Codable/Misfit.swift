// SPDX-License-Identifier: MIT OR Apache-2.0

/// Returns the error for a value that does not have the type that its reader asked for. Other errors
/// stay as they are.
///
/// `source` names the channel and the method, and `root` says what arrived. The value is read only
/// for the error.
func misfit(
  _ error: any Error, _ source: String, _ root: String, _ value: () -> Value?
) -> any Error {
  guard let error = error as? DecodingError else { return error }
  let why: String
  switch error {
  case .typeMismatch(let type, let context):
    let found = found(value(), context.codingPath)
    why = "\(place(root, context.codingPath)) must be \(type): it is \(found)"
  case .valueNotFound(let type, let context):
    why = "\(place(root, context.codingPath)) must be \(type): it is missing"
  case .keyNotFound(let key, let context):
    let found = found(value(), context.codingPath)
    why = "\(place(root, context.codingPath)) must have the key \(key.stringValue): it is \(found)"
  case .dataCorrupted(let context):
    why = "\(place(root, context.codingPath)) is wrong: \(context.debugDescription)"
  @unknown default: why = "\(root) is wrong: \(error)"
  }
  return ClearwayError(.protocolViolation, "\(source): \(why)")
}

private func place(_ root: String, _ path: [any CodingKey]) -> String {
  path.reduce(root) { place, key in
    key.intValue.map { "\(place)[\($0)]" } ?? "\(place).\(key.stringValue)"
  }
}

/// Returns the kind of the value at a place, and the value itself if it is short.
private func found(_ value: Value?, _ path: [any CodingKey]) -> String {
  let found = path.reduce(value) { value, key in
    guard let value else { return nil }
    return key.intValue.flatMap { value.element($0) } ?? value[key.stringValue]
  }
  return found?.kind ?? "missing"
}

extension Value {
  /// The kind of the value for a message of an error, and the value itself if it is short.
  var kind: String {
    switch self {
    case .null: "null"
    case .bool(let value): "the boolean \(value)"
    case .int(let value): "the integer \(value)"
    case .big: "an integer beyond 64 bits"
    case .double(let value): "the float \(value)"
    case .string: "a text"
    case .bytes: "a list of bytes"
    case .int32s: "a list of 32-bit integers"
    case .int64s: "a list of 64-bit integers"
    case .floats: "a list of 32-bit floats"
    case .doubles: "a list of 64-bit floats"
    case .list: "a list"
    case .map: "a map"
    case .custom(let own): "a \(type(of: own.base))"
    }
  }

  /// Returns an element of a list of any kind.
  fileprivate func element(_ index: Int) -> Value? {
    func at<N>(_ list: [N], _ make: (N) -> Value) -> Value? {
      list.indices.contains(index) ? make(list[index]) : nil
    }
    switch self {
    case .list(let list): return at(list) { $0 }
    case .bytes(let list): return at(list) { .int(Int64($0)) }
    case .int32s(let list): return at(list) { .int(Int64($0)) }
    case .int64s(let list): return at(list) { .int($0) }
    case .floats(let list): return at(list) { .double(Double($0)) }
    case .doubles(let list): return at(list) { .double($0) }
    default: return nil
    }
  }
}
