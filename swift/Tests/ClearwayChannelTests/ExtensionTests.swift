// SPDX-License-Identifier: MIT OR Apache-2.0

import Testing

@testable import ClearwayChannel

private struct Point: Hashable, Codable, Sendable {
  var x: Double
  var y: Double
}

/// A tree: its extension writes values inside its own.
private indirect enum Tree: Hashable, Sendable {
  case leaf(String)
  case fork(Tree, Tree)
}

/// Every function of a body.
private struct Everything: Hashable, Sendable {
  var parts: [Value]
}

private struct Broken: Error {}

private func points(tag: UInt8 = 128) throws -> CodecExtension {
  try CodecExtension(tag: tag, Point.self) { point, writer in
    writer.float64(point.x)
    writer.float64(point.y)
  } read: { reader in
    Point(x: try reader.float64(), y: try reader.float64())
  }
}

private func trees() throws -> CodecExtension {
  try CodecExtension(tag: 255, Tree.self) { tree, writer in
    switch tree {
    case .leaf(let text): try writer.value(.string(text))
    case .fork(let left, let right):
      try writer.value(.list([Value(custom: left), Value(custom: right)]))
    }
  } read: { reader in
    let value = try reader.value()
    if let text = value.stringValue { return Tree.leaf(text) }
    guard let left: Tree = value[0]?.customValue(), let right: Tree = value[1]?.customValue() else {
      throw Broken()
    }
    return .fork(left, right)
  }
}

@Suite("A codec with extensions")
struct ExtensionTests {
  private let codec: StandardMessageCodec
  private let one = Value(custom: Point(x: 1, y: 2))

  init() throws { codec = try StandardMessageCodec(extensions: [try points(), try trees()]) }

  @Test("carries a type of the app, in the bytes that the other languages write")
  func point() throws {
    let message = try codec.encode([one, 7])
    let doubles: [UInt8] = [0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0x40]
    #expect(message == [12, 2, 128, 0, 0, 0, 0, 0] + doubles + [3, 7, 0, 0, 0])
    let read = try codec.decode(message)
    #expect(read == [one, 7])
    let point: Point? = read[0]?.customValue()
    #expect(point == Point(x: 1, y: 2))
    #expect(read[0]?.customValue(as: Tree.self) == nil && read[1]?.customValue(as: Int.self) == nil)
    #expect(one.hashValue == read[0]?.hashValue && one != Value(custom: Tree.leaf("")))
    let call = try StandardMethodCodec(extensions: [try points()])
    #expect(try call.decodeCall(call.encode(call: MethodCall("at", one))).arguments == one)
    #expect(try call.decodeReply(call.encode(reply: .success(one))) == .success(one))
  }

  @Test("carries values inside such a value, and counts them")
  func nested() throws {
    let tree = Value(custom: Tree.fork(.leaf("a"), .fork(.leaf("b"), .leaf("c"))))
    #expect(try codec.decode(codec.encode(tree)) == tree)
    let message = try codec.encode(tree)
    // The counts of two lists, and a value inside each of five trees.
    let some = try StandardMessageCodec(limits: try CodecLimits(itemsMax: 9), extensions: [trees()])
    #expect(try some.decode(message) == tree)
    let few = try StandardMessageCodec(limits: try CodecLimits(itemsMax: 8), extensions: [trees()])
    #expect(code { _ = try few.decode(message) } == .tooLarge)
    let flat = try StandardMessageCodec(limits: try CodecLimits(depthMax: 4), extensions: [trees()])
    #expect(code { _ = try flat.decode(message) } == .tooDeep)
    #expect(code { _ = try flat.encode(tree) } == .tooDeep)
    let deep = try StandardMessageCodec(limits: try CodecLimits(depthMax: 5), extensions: [trees()])
    #expect(try deep.decode(message) == tree)
  }

  @Test("gives a body every kind of part, and offsets of the whole message")
  func parts() throws {
    let all = try CodecExtension(tag: 200, Everything.self) { value, writer in
      writer.uint8(1)
      writer.int32(-2)
      writer.int64(.min)
      try writer.size(70_000)
      try writer.text("grüß")
      writer.bytes([9, 8])
      try writer.pad(to: 4)
      if writer.offset % 4 != 0 { throw Broken() }
      writer.float64(0.5)
      for part in value.parts { try writer.value(part) }
    } read: { reader in
      guard try reader.uint8() == 1, try reader.int32() == -2, try reader.int64() == .min,
        try reader.size() == 70_000, try reader.text() == "grüß", try reader.bytes(2) == [9, 8]
      else { throw Broken() }
      try reader.pad(to: 4)
      guard reader.offset % 4 == 0, try reader.float64() == 0.5 else { throw Broken() }
      var parts: [Value] = []
      while reader.left > 0 { parts.append(try reader.value()) }
      return Everything(parts: parts)
    }
    let codec = try StandardMessageCodec(extensions: [all])
    let parts: [Value] = [nil, "x", [1]]
    for count in 0...parts.count {
      let value = Value(custom: Everything(parts: Array(parts.prefix(count))))
      let message = try codec.encode(value)
      #expect(try codec.decode(message) == value)
      for end in 1..<message.count where count == 0 {
        #expect(code { _ = try codec.decode(Array(message[..<end])) } == .truncated)
      }
    }
  }

  @Test("is refused for a wrong type byte, a type that the codec has, and a repeated one")
  func registration() throws {
    #expect(code { _ = try points(tag: 127) } == .invalidArgument)
    #expect(
      code {
        _ = try CodecExtension(tag: 128, Int.self) { _, _ in
        } read: { _ in
          0
        }
      } == .invalidArgument)
    #expect(
      code { _ = try StandardMessageCodec(extensions: [points(), points(tag: 129)]) }
        == .invalidArgument)
    let other = try CodecExtension(tag: 128, Tree.self) { _, _ in
    } read: { _ in
      .leaf("")
    }
    #expect(
      code { _ = try StandardMethodCodec(extensions: [points(), other]) } == .invalidArgument)
  }

  @Test("refuses a type without an extension, in both directions and in JSON")
  func unknown() throws {
    let plain = StandardMessageCodec()
    #expect(code { _ = try plain.encode([one]) } == .notEncodable)
    #expect(code { _ = try JSONMessageCodec().encode([one]) } == .notEncodable)
    let message = try codec.encode(one)
    #expect(throws: ClearwayError(.unknownTag, "type 128 is no extension here", offset: 0)) {
      try plain.decode(message)
    }
    #expect(code { _ = try codec.decode([129, 0]) } == .unknownTag)
  }

  @Test("gives the caller what an extension throws, or a typed error")
  func failures() throws {
    func throwing(_ thrown: any Error) throws -> StandardMessageCodec {
      try StandardMessageCodec(extensions: [
        try CodecExtension(tag: 128, Point.self) { _, writer in
          writer.uint8(1)
          throw thrown
        } read: { reader in
          _ = try reader.uint8()
          throw thrown
        }
      ])
    }
    for (thrown, writing, reading) in [
      (Broken() as any Error, ClearwayError.Code.notEncodable, ClearwayError.Code.malformed),
      (ClearwayError(.tooLarge, "mine"), .tooLarge, .tooLarge),
    ] {
      let codec = try throwing(thrown)
      #expect(code { _ = try codec.encode([one]) } == writing)
      #expect(code { _ = try codec.decode([12, 1, 128, 1]) } == reading)
    }
    // A body that asks for too much, and one that leaves bytes.
    let wrong = try CodecExtension(tag: 128, Point.self) { _, writer in
      try writer.size(-1)
    } read: { reader in
      _ = try reader.bytes(Int(try reader.int32()))
      return Point(x: 0, y: 0)
    }
    let asking = try StandardMessageCodec(extensions: [wrong])
    #expect(code { _ = try asking.encode(one) } == .invalidArgument)
    #expect(code { _ = try asking.decode([128, 255, 255, 255, 127]) } == .truncated)
    #expect(code { _ = try asking.decode([128, 255, 255, 255, 255]) } == .invalidArgument)
    #expect(code { _ = try asking.decode([128, 0, 0, 0, 0, 9]) } == .trailingBytes)
    let padding = try CodecExtension(tag: 128, Point.self) { _, writer in
      try writer.pad(to: 3)
    } read: { reader in
      try reader.pad(to: 0)
      return Point(x: 0, y: 0)
    }
    let padded = try StandardMessageCodec(extensions: [padding])
    #expect(code { _ = try padded.encode(one) } == .invalidArgument)
    #expect(code { _ = try padded.decode([128]) } == .invalidArgument)
  }

  @Test("writes a property of a Codable type by its extension, and reads it back")
  func codable() throws {
    struct Path: Codable, Equatable {
      var from: Point
      var to: Point?
      var between: [Point]
      var name: String
      var other: Value
      var byName: [String: Point]
    }
    let (first, second) = (Point(x: 1, y: 2), Point(x: 3, y: 4))
    let path = Path(
      from: first, to: second, between: [second, first], name: "p", other: [one],
      byName: ["a": first])
    let typed = codec.of(Path.self)
    let value = try codec.decode(typed.encode(path))
    #expect(value["from"] == one && value["between"] == [Value(custom: second), one])
    #expect(value["to"] == Value(custom: second) && value["byName"] == ["a": one])
    #expect(try typed.decode(typed.encode(path)) == path)
    #expect(try ValueDecoder().decode(Path.self, from: value) == path)
    #expect(try codec.of(Point.self).decode(codec.encode(one)) == first)
    #expect(throws: DecodingError.self) {
      try codec.of([String: Int].self).decode(codec.encode(one))
    }
    // Without the extension, the same type crosses by its Codable form.
    let plain = StandardMessageCodec()
    let form: Value = ["x": 1.0, "y": 2.0]
    #expect(try plain.decode(plain.of(Point.self).encode(first)) == form)
    #expect(try ValueEncoder().encode(one) == one)
    #expect(try JSONMessageCodec().of([String: Point].self).encode(["a": first]).count > 10)
    // A container that is filled in turn collects values: they are of the same kind.
    struct Turns: Encodable {
      let point: Point
      func encode(to encoder: any Encoder) throws {
        var map = encoder.container(keyedBy: PathKey.self)
        try map.encode(point, forKey: .name("before"))
        var list = map.nestedUnkeyedContainer(forKey: .name("list"))
        try map.encode(point, forKey: .name("after"))
        try list.encode(point)
      }
    }
    let message = try encodeMessage(Turns(point: first), codec.rules)
    #expect(try codec.decode(message) == ["before": one, "list": [one], "after": one])
  }

  @Test("refuses what the codec of values refuses, at the same byte")
  func indexed() throws {
    let message = try codec.encode(["a": [one, Value(custom: Tree.fork(.leaf("b"), .leaf("c")))]])
    func thrown(_ body: () throws -> Void) -> ClearwayError? {
      do {
        try body()
        return nil
      } catch { return error as? ClearwayError }
    }
    func compare(_ message: [UInt8]) {
      let expected = thrown { _ = try codec.ofValues().decode(message) }
      let found = thrown {
        _ = try message.withUnsafeBytes { try IndexedMessage($0, codec.rules) }
      }
      #expect(found?.code == expected?.code && found?.offset == expected?.offset)
    }
    for end in message.indices { compare(Array(message[..<end])) }
    for at in message.indices {
      for change in [1, 7, 128, 255] as [UInt8] {
        var changed = message
        changed[at] ^= change
        compare(changed)
      }
    }
  }

  @Test(
    "crosses channels of every transport, as value and as Codable type", arguments: Carrier.allCases
  )
  func channels(carrier: Carrier) async throws {
    let (here, there) = try await connected(carrier)
    let messages = try there.messages("points", codec: codec)
    try messages.handle { value, _ in [value, value] }
    let answer = try await here.messages("points", codec: codec).send(one)
    #expect(answer == [one, one])
    let methods = try StandardMethodCodec(extensions: [try points()])
    try there.methods("move", codec: methods).handle { call, _ in call.arguments }
    let moved: Point = try await here.methods("move", codec: methods).call("by", Point(x: 1, y: 2))
    #expect(moved == Point(x: 1, y: 2))
    await here.close()
    _ = await there.closed()
  }
}

private func code(_ body: () throws -> Void) -> ClearwayError.Code? {
  do {
    try body()
    return nil
  } catch { return (error as? ClearwayError)?.code }
}
