// SPDX-License-Identifier: MIT OR Apache-2.0

import Foundation
import Testing

@testable import ClearwayChannel

@Suite("A codec")
struct CodecTests {
  @Test("Values of every kind survive a round trip")
  func roundTrip() throws {
    let big = try #require(BigInteger(hex: "-123456789abcdef0123"))
    let value: Value = [
      nil, true, 7, .int(.min), 1.5, .double(-0.0), .double(.nan), "grüß\u{0}", .bytes([1, 2]),
      .int32s([-1, 2]), .int64s([.max]), .floats([1.5]), .doubles([0.1, .infinity]), .big(big),
      ["a": 1, .null: ["b"], 3: [:]], [],
    ]
    let codec = StandardMessageCodec()
    #expect(try codec.decode(codec.encode(value)) == value)
    #expect(try codec.encode(nil) == [])
    #expect(try codec.decode([]) == nil)
    #expect(try codec.ofValues().encode(nil) == [0])
  }

  @Test("Texts are compared by their bytes, and not by their letters")
  func texts() throws {
    let (composed, combined): (Value, Value) = ("\u{e9}", "e\u{301}")
    #expect(composed != combined)
    var map = ValueMap()
    map[composed] = 1
    map[combined] = 2
    #expect(map.count == 2)
    for number in 0..<100 { map["key\(number)"] = .int(Int64(number)) }
    #expect(map[composed] == 1 && map[combined] == 2 && map["key77"] == 77)
    map["key3"] = nil
    #expect(map.count == 101 && map["key3"] == nil && map["key99"] == 99)
  }

  @Test("A list that ignores a part that does not fit is still a valid message")
  func ignoredPart() throws {
    struct List: Encodable {
      func encode(to encoder: any Encoder) throws {
        var list = encoder.unkeyedContainer()
        try list.encode("x")
        #expect(throws: ClearwayError.self) {
          try list.encode(contentsOf: [1, 2, 3] as [UInt8])
        }
      }
    }
    // The text takes five bytes with the list's own, and each number takes five.
    let message = try encodeMessage(List(), StandardRules(.standard), bytesMax: 17)
    #expect(try StandardMessageCodec().decode(message) == ["x"])
  }

  @Test("Nesting beyond the limit is refused in both directions")
  func depth() throws {
    let limits = try CodecLimits(depthMax: 3)
    let codec = StandardMessageCodec(limits: limits)
    let deep: Value = [[[[]]]]
    #expect(throws: ClearwayError.self) { try codec.encode(deep) }
    let bytes = try StandardMessageCodec().encode(deep)
    #expect(code { _ = try codec.decode(bytes) } == .tooDeep)
    #expect(
      code { _ = try JSONMessageCodec(limits: limits).decode(Array("[[[[]]]]".utf8)) } == .tooDeep)
    let deepest = StandardMessageCodec(limits: try CodecLimits(depthMax: CodecLimits.deepest))
    var nested: [UInt8] = []
    for _ in 0..<CodecLimits.deepest { nested += [Tag.list, 1] }
    #expect(throws: Never.self) { _ = try deepest.decode(nested + [0]) }
    #expect(code { _ = try CodecLimits(depthMax: CodecLimits.deepest + 1) } == .invalidArgument)
    #expect(code { _ = try CodecLimits(itemsMax: 0) } == .invalidArgument)
  }

  @Test("A count that the message cannot hold allocates nothing")
  func counts() {
    for tag in [8, 9, 10, 11, 12, 13, 14, 7, 5] as [UInt8] {
      let error = code { _ = try StandardMessageCodec().decode([tag, 255, 255, 255, 255, 255]) }
      #expect(error == .truncated)
    }
    // Nested lists that each announce the rest of the message.
    let bytes =
      (0..<100).flatMap { _ in [12, 254, 0, 16] as [UInt8] } + [UInt8](repeating: 0, count: 4096)
    #expect(code { _ = try StandardMessageCodec().decode(bytes) } != nil)
  }

  @Test("Types of an app cross by their Codable form")
  func codable() throws {
    enum Kind: String, Codable { case small, large }
    struct Part: Codable, Equatable {
      var name: String
      var kind: Kind
      var weight: Float
      var count: UInt64
      var note: String?
      var pixels: [UInt8]
      var matrix: [[Double]]
      var byName: [String: Int]
      var raw: Value
    }
    let part = Part(
      name: "n", kind: .large, weight: 0.5, count: .max, note: nil, pixels: [1, 2],
      matrix: [[1], [2.5, 3]], byName: ["a": -1], raw: ["any": [1, .bytes([9])]])
    let value = try ValueEncoder().encode(part)
    #expect(value["pixels"] == .bytes([1, 2]))
    #expect(value["matrix"] == [.doubles([1]), .doubles([2.5, 3])])
    #expect(value["raw"] == ["any": [1, .bytes([9])]])
    #expect(try ValueDecoder().decode(Part.self, from: value) == part)
    #expect(try ValueDecoder().decode([UInt8].self, from: [1, 2.0, 255]) == [1, 2, 255])
    #expect(throws: DecodingError.self) { try ValueDecoder().decode([UInt8].self, from: [256]) }
    #expect(throws: DecodingError.self) { try ValueDecoder().decode(Part.self, from: ["name": 1]) }
    // Another coder's form of a value is plain JSON.
    let text = String(
      decoding: try JSONEncoder().encode(["x": Value.list([1, "a"])]), as: UTF8.self)
    #expect(text == #"{"x":[1,"a"]}"#)
    #expect(
      try JSONDecoder().decode(Value.self, from: Data(#"{"x":[1,null]}"#.utf8)) == ["x": [1, nil]])
  }

  @Test("Attachments are read in their places, and a hostile reference is refused")
  func attachments() throws {
    let frame = (0..<8).map { UInt8($0) }
    try frame.withUnsafeBytes { (bytes: UnsafeRawBufferPointer) throws in
      let attachments = Attachments(frame: bytes, ranges: [0..<4, 4..<7], bytesMax: 8)
      func decode(_ message: [UInt8]) throws -> Value {
        try message.withUnsafeBytes {
          try StandardMessageCodec().decode($0, valuesMax: .max, attachments: attachments)
        }
      }
      #expect(
        try decode([12, 2, 127, 8, 1, 127, 9, 0]) == [.bytes([4, 5, 6]), .int32s([0x0302_0100])])
      #expect(code { _ = try decode([127, 8, 2]) } == .malformed)
      #expect(code { _ = try decode([127, 9, 1]) } == .malformed)
      #expect(code { _ = try decode([127, 12, 0]) } == .malformed)
      #expect(code { _ = try decode([12, 3, 127, 8, 0, 127, 8, 1, 127, 9, 0]) } == .tooLarge)
      let shared = Value.bytes([0, 1, 2, 3])
      #expect(try decode([12, 3, 127, 8, 0, 127, 8, 0, 127, 8, 0]) == [shared, shared, shared])
    }
  }

  @Test(
    "A codec of the app has the attachments of calls, replies and events in their message",
    .timeLimit(.minutes(2)))
  func ownMethods() async throws {
    let (endpoint, bare) = try await besideBare()
    let channel = try endpoint.methods("f", codec: OwnMethodCodec())
    let attached: [UInt8] = [Tag.attached, Tag.bytes, 0]
    func send(_ op: UInt8, _ id: UInt32, name: String = "", _ body: [UInt8]) {
      let frame = frameWithAttachments(Head(op: op, id: id), [20_000], name: name, body: body)
      _ = bare.transport.send(frame)
    }
    let zeros = Value.bytes([UInt8](repeating: 0, count: 20_000))
    try channel.handle { call, _ in .bool(call.arguments == zeros) }
    send(Op.call, 1, name: "f", [Tag.text, 1, UInt8(ascii: "x")] + attached)
    await eventually { bare.received(Op.reply).count == 1 }
    let reply = bare.received(Op.reply)[0].message
    #expect(Array(reply.bytes[reply.body]) == [Envelope.success, Tag.yes])

    async let result = channel.call("x")
    await eventually { bare.received(Op.call).count == 1 }
    send(Op.reply, bare.received(Op.call)[0].head.id, [Envelope.success] + attached)
    #expect(try await result == zeros)

    let stream = try endpoint.events("e", codec: OwnMethodCodec()).listen()
    await eventually { bare.received(Op.listen).count == 1 }
    send(Op.event, bare.received(Op.listen)[0].head.id, [Envelope.success] + attached)
    #expect(try await stream.first { _ in true } == zeros)
    await endpoint.close()
  }

  @Test("The codes of errors are those of the specification")
  func codes() throws {
    let listed = Set(
      try repositoryText("spec/errors.md").split(separator: "\n").compactMap { line in
        line.hasPrefix("| `") ? line.dropFirst(3).split(separator: "`").first.map(String.init) : nil
      })
    for code in ClearwayError.Code.allCases { #expect(listed.contains(code.rawValue), "\(code)") }
    let page = try repositoryText("spec/errors.md")
    for section in ["## Codecs", "## Channels", "## Native plugins"] {
      let part = try #require(page.components(separatedBy: section + "\n").last)
      for line in part.components(separatedBy: "\n## ")[0].split(separator: "\n")
      where line.hasPrefix("| `") {
        let name = line.dropFirst(3).prefix { $0 != "`" }
        let isOfNode = name == "addon-missing"
        #expect(isOfNode || ClearwayError.Code(rawValue: String(name)) != nil, "\(name)")
      }
    }
  }
}

/// A codec of an application that wraps one of this library, as one that encrypts does.
private struct OwnMethodCodec: MethodCodec {
  private let base = StandardMethodCodec()

  func encode(call: MethodCall) throws(ClearwayError) -> [UInt8] { try base.encode(call: call) }
  func encode(reply: MethodReply) throws(ClearwayError) -> [UInt8] { try base.encode(reply: reply) }
  func decodeCall(_ bytes: UnsafeRawBufferPointer) throws(ClearwayError) -> MethodCall {
    try base.decodeCall(bytes)
  }
  func decodeReply(_ bytes: UnsafeRawBufferPointer) throws(ClearwayError) -> MethodReply {
    try base.decodeReply(bytes)
  }
}

private func code(_ body: () throws -> Void) -> ClearwayError.Code? {
  do {
    try body()
    return nil
  } catch {
    return (error as? ClearwayError)?.code
  }
}
