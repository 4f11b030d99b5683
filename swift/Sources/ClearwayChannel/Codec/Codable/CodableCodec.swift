// SPDX-License-Identifier: MIT OR Apache-2.0

/// A codec of messages of your own type, by the standard codec or the JSON codec.
///
/// With the standard codec, the parts of a type are written straight into the message and read
/// straight from it.
public struct CodableCodec<Message: Codable & Sendable, Base: MessageCodec>: MessageCodec,
  CountingCodec, LimitedCodec, ExtendedCodec
where Base.Message == Value {
  private let base: Base
  private let standard: StandardMessageCodec?

  /// Makes a codec over a codec of values.
  public init(_ type: Message.Type = Message.self, over base: Base) {
    self.base = base
    standard = base as? StandardMessageCodec
  }

  var extensions: Extensions? { standard?.rules.extensions }

  /// Returns the bytes of a message. Throws `EncodingError`, and the errors of the base.
  public func encode(_ message: Message) throws -> [UInt8] { try encode(message, bytesMax: .max) }

  func encode(_ message: Message, bytesMax: Int) throws -> [UInt8] {
    guard let standard else {
      return try limited(base, try ValueEncoder().encode(message), bytesMax)
    }
    let bytes = try encodeMessage(message, standard.rules, bytesMax: bytesMax)
    return standard.isEmptyNull && bytes == null ? [] : bytes
  }

  /// Returns the message of the bytes. Throws `DecodingError`, and the errors of the base.
  public func decode(_ bytes: UnsafeRawBufferPointer) throws -> Message {
    try decode(bytes, valuesMax: .max)
  }

  func decode(_ bytes: UnsafeRawBufferPointer, valuesMax: Int) throws -> Message {
    guard let standard else {
      return try ValueDecoder().decode(Message.self, from: try value(bytes, valuesMax))
    }
    let own = standard.rules.limits
    let limits = CodecLimits(validDepth: own.depthMax, items: min(own.itemsMax, valuesMax))
    let rules = StandardRules(limits, standard.rules.extensions)
    if standard.isEmptyNull, bytes.isEmpty {
      return try null.withUnsafeBytes { try decodeMessage(Message.self, $0, rules) }
    }
    return try decodeMessage(Message.self, bytes, rules)
  }

  func value(_ bytes: UnsafeRawBufferPointer, _ valuesMax: Int) throws -> Value {
    guard let counting = base as? any ReceivingCodec,
      let value = try counting.decode(bytes, valuesMax: valuesMax, attachments: nil) as? Value
    else { return try base.decode(bytes) }
    return value
  }
}

/// The value null as bytes.
private let null: [UInt8] = [Tag.null]

extension MessageCodec where Message == Value {
  /// Returns a codec of messages of your own type.
  public func of<T: Codable & Sendable>(_ type: T.Type) -> CodableCodec<T, Self> {
    CodableCodec(type, over: self)
  }
}

/// A value encodes itself: a value within an encodable type stays as it is.
extension Value: Codable {
  /// Encodes the value with an encoder of any format.
  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .null:
      var container = encoder.singleValueContainer()
      try container.encodeNil()
    case .bool(let value): try value.encode(to: encoder)
    case .int(let value): try value.encode(to: encoder)
    case .big(let value): try String(describing: value).encode(to: encoder)
    case .double(let value): try value.encode(to: encoder)
    case .string(let value): try value.encode(to: encoder)
    case .bytes(let list): try list.encode(to: encoder)
    case .int32s(let list): try list.encode(to: encoder)
    case .int64s(let list): try list.encode(to: encoder)
    case .floats(let list): try list.encode(to: encoder)
    case .doubles(let list): try list.encode(to: encoder)
    case .list(let list): try list.encode(to: encoder)
    case .map(let map):
      var container = encoder.container(keyedBy: PathKey.self)
      for entry in map {
        guard let key = entry.key.stringValue else {
          throw EncodingError.invalidValue(
            entry.key,
            .init(codingPath: encoder.codingPath, debugDescription: "a key that is no text"))
        }
        try container.encode(entry.value, forKey: PathKey(stringValue: key))
      }
    case .custom(let own):
      guard let value = own.base as? any Encodable else {
        throw EncodingError.invalidValue(
          own.base,
          .init(
            codingPath: encoder.codingPath,
            debugDescription: "\(Swift.type(of: own.base)) is not Encodable"))
      }
      try value.encode(to: encoder)
    }
  }

  /// Decodes a value with a decoder of any format.
  public init(from decoder: any Decoder) throws {
    if let container = try? decoder.container(keyedBy: PathKey.self) {
      var map = ValueMap()
      for key in container.allKeys {
        map[key.stringValue] = try container.decode(Value.self, forKey: key)
      }
      self = .map(map)
      return
    }
    if var container = try? decoder.unkeyedContainer() {
      var list: [Value] = []
      while !container.isAtEnd { list.append(try container.decode(Value.self)) }
      self = .list(list)
      return
    }
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .int(value)
    } else if let value = try? container.decode(Double.self) {
      self = .double(value)
    } else {
      self = .string(try container.decode(String.self))
    }
  }
}

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
