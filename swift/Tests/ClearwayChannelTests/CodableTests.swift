// SPDX-License-Identifier: MIT OR Apache-2.0

import Foundation
import Testing

@testable import ClearwayChannel

private enum Kind: String, Codable { case small, large }
private struct Part: Codable, Equatable, Sendable {
  struct Size: Codable, Equatable, Sendable {
    var width: Double
    var height: Float
  }

  var name = "Größe \u{0}"
  var kind = Kind.large
  var sizes = [Size(width: 1.5, height: -2), Size(width: 0, height: 3)]
  var note: String?
  var given: Int? = 7
  var most = UInt64.max
  var small: [Int8] = [-128, 127]
  var numbers = [Int.min, 0, Int.max]
  var texts = ["", "a", "zwölf"]
  var flags = [true, false]
  var unset: [Int?] = [1, nil]
  var pixels: [UInt8] = [1, 2]
  var ints: [Int32] = [-1, 2]
  var longs: [Int64] = [.min]
  var floats: [Float] = [0.5]
  var doubles = [0.1, .infinity]
  var matrix: [[Double]] = [[1], [], [2.5, 3]]
  var byName = ["one": 1, "two": 2]
  var byNumber = [3: "three"]
  var byKind: [Kind: Int] = [.small: 1]
  var set: Set<String> = ["only"]
  var raw: Value = ["any": [1, .bytes([9])]]
  var action = Action.move(x: 1, y: 2)
  var empty = Empty()
  var url = URL(string: "https://example.com/a")
  var date = Date(timeIntervalSinceReferenceDate: 12.5)
  var data = Data([7, 8, 9])
}

private struct Empty: Codable, Equatable {}

private enum Action: Codable, Equatable {
  case stop
  case move(x: Int, y: Double)
}

private class Animal: Codable { var name = "a" }

private final class Dog: Animal {
  var age = 3

  private enum CodingKeys: String, CodingKey { case age }

  override init() { super.init() }

  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    age = try container.decode(Int.self, forKey: .age)
    try super.init(from: try container.superDecoder())
  }

  override func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(age, forKey: .age)
    try super.encode(to: container.superEncoder())
    try container.encode(age + 1, forKey: .age)
  }
}

/// A type whose code for encoding is a closure.
private struct By: Encodable {
  let body: (any Encoder) throws -> Void
  init(_ body: @escaping (any Encoder) throws -> Void) { self.body = body }
  func encode(to encoder: any Encoder) throws { try body(encoder) }
}

private let codec = StandardMessageCodec()

private func bytes(_ value: some Encodable, depthMax: Int = 128) throws -> [UInt8] {
  try encodeMessage(value, StandardRules(CodecLimits(validDepth: depthMax, items: .max)))
}

/// The message of a type's value.
private func byValue(_ value: some Encodable) throws -> [UInt8] {
  try codec.encode(try ValueEncoder().encode(value))
}

private func value(_ value: some Encodable) throws -> Value {
  try codec.ofValues().decode(try bytes(value))
}

private func decoded<T: Decodable>(_ type: T.Type, _ message: [UInt8]) throws -> T {
  try message.withUnsafeBytes { try decodeMessage(type, $0, StandardRules(.standard)) }
}

private func decoded<T: Decodable>(_ type: T.Type, of value: Value) throws -> T {
  try decoded(type, try codec.ofValues().encode(value))
}

@Suite("A codec of a Codable type")
struct CodableTests {
  @Test("writes the message that the type's value has, and reads it back")
  func sameBytes() throws {
    let part = Part()
    let message = try codec.of(Part.self).encode(part)
    let expected = try byValue(part)
    #expect(message == expected)
    #expect(try codec.of(Part.self).decode(message) == part)
    #expect(try ValueDecoder().decode(Part.self, from: try codec.decode(message)) == part)
    let json = JSONMessageCodec().of(Part.Size.self)
    #expect(try json.decode(json.encode(part.sizes[0])) == part.sizes[0])
  }

  @Test("writes plain values and nulls as the codec of values does")
  func plain() throws {
    #expect(try codec.of(Int?.self).encode(nil) == [])
    #expect(try codec.of(Int?.self).decode([]) == nil)
    #expect(try codec.ofValues().of(Int?.self).encode(nil) == [0])
    #expect(try codec.of(String.self).decode(codec.encode("é")) == "é")
    #expect(try codec.of([Int].self).decode(codec.encode(.int32s([1, 2]))) == [1, 2])
    #expect(try codec.of([Double].self).decode(codec.encode([1, 2.5])) == [1, 2.5])
    #expect(try codec.of([UInt8].self).decode(codec.encode([1, 2.0, 255])) == [1, 2, 255])
    #expect(throws: DecodingError.self) { try codec.of([UInt8].self).decode(codec.encode([256])) }
    #expect(throws: DecodingError.self) { try codec.of(Int.self).decode(codec.encode(1.5)) }
    #expect(try codec.of(UInt64.self).decode(codec.of(UInt64.self).encode(.max)) == .max)
    #expect(try value(Data([1, 2])) == .bytes([1, 2]))
    #expect(try ValueEncoder().encode(["a": Data([1, 2])]) == ["a": .bytes([1, 2])])
  }

  @Test(
    "writes lists and maps of every size with the shortest count", arguments: [253, 254, 70_000])
  func sizes(count: Int) throws {
    let parts = (0..<count).map { Part.Size(width: Double($0), height: 1) }
    let listed = try byValue(parts)
    #expect(try bytes(parts) == listed)
    #expect(try decoded([Part.Size].self, try bytes(parts)) == parts)
    let map = Dictionary(uniqueKeysWithValues: (0..<count).map { ("key \($0)", Double($0)) })
    let mapped = try byValue(map)
    #expect(try bytes(map) == mapped)
    #expect(try decoded([String: Double].self, try bytes(map)) == map)
    let some = By { encoder in
      var list = encoder.unkeyedContainer()
      for number in 0..<count { try list.encode(Double(number)) }
    }
    let unforeseen = try byValue(some)
    #expect(try bytes(some) == unforeseen)
  }

  @Test("keeps the order of containers that are filled in turn")
  func nested() throws {
    let turns = By { encoder in
      var map = encoder.container(keyedBy: PathKey.self)
      try map.encode(1, forKey: .name("first"))
      var list = map.nestedUnkeyedContainer(forKey: .name("list"))
      var inner = map.nestedContainer(keyedBy: PathKey.self, forKey: .name("inner"))
      try list.encode(1)
      try inner.encode("x", forKey: .name("text"))
      try map.encode([2.5], forKey: .name("last"))
      try list.encode(2)
      try Value.bool(true).encode(to: list.superEncoder())
      var deep = list.nestedContainer(keyedBy: PathKey.self)
      try deep.encodeNil(forKey: .name("none"))
    }
    let expected: Value = [
      "first": 1, "list": [1, 2, true, ["none": nil]], "inner": ["text": "x"],
      "last": .doubles([2.5]),
    ]
    #expect(try value(turns) == expected)
    #expect(try value([turns, turns]) == [expected, expected])
    let dog = try value(Dog())
    #expect(dog["super"] == ["name": "a"] && dog["age"] == 4)
    #expect(try decoded(Dog.self, of: dog).age == 4)
    #expect(try decoded(Action.self, of: try value(Action.stop)) == .stop)
    let bytesAndMore = By { encoder in
      var list = encoder.unkeyedContainer()
      try list.encode(contentsOf: [1, 2] as [UInt8])
      try list.encode("end")
      try list.encode(contentsOf: [3] as [UInt8])
    }
    #expect(try value(bytesAndMore) == [1, 2, "end", 3])
    #expect(try ValueEncoder().encode(bytesAndMore) == [1, 2, "end", 3])
  }

  @Test("takes the last value of a repeated key, in maps of any size", arguments: [0, 40])
  func repeatedKeys(more: Int) throws {
    struct Two: Codable, Equatable {
      var a: Int
      var b: Int
    }
    var message: [UInt8] = [Tag.map, UInt8(3 + more)]
    func put(_ key: String, _ number: UInt8) {
      message += [Tag.text, UInt8(key.utf8.count)] + Array(key.utf8)
      message += [Tag.int32, number, 0, 0, 0]
    }
    put("a", 1)
    put("b", 2)
    put("a", 3)
    for number in 0..<more { put("more \(number)", 0) }
    #expect(try decoded(Two.self, message) == Two(a: 3, b: 2))
    #expect(try decoded([String: Int].self, message)["a"] == 3)
    // The keys of another order, and of another kind.
    #expect(try decoded(Two.self, of: [1: 9, "b": 2, nil: [:], "a": 1]) == Two(a: 1, b: 2))
  }

  @Test("names the place of an error as the decoder of values does")
  func places() throws {
    func place(_ body: () throws -> Void) -> String? {
      do {
        try body()
        return nil
      } catch let DecodingError.typeMismatch(type, context) {
        return "\(type) \(context.codingPath.map(\.stringValue))"
      } catch let DecodingError.keyNotFound(key, context) {
        return "\(key.stringValue) \(context.codingPath.map(\.stringValue))"
      } catch let DecodingError.valueNotFound(_, context) {
        return "end \(context.codingPath.map(\.stringValue))"
      } catch {
        return "\(error)"
      }
    }
    struct Three: Decodable {
      init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        for _ in 0..<3 { _ = try list.decode(Int.self) }
      }
    }
    struct Outer: Decodable {
      var parts: [Part.Size]?
      var three: Three?
      var deep: [String: [Bool]]?
    }
    for wrong: Value in [
      ["parts": [["width": 1, "height": 2], ["width": "x", "height": 2]]],
      ["parts": [["width": 1]]],
      ["parts": 1], ["parts": .doubles([1])], ["three": [1, 2]], ["three": .bytes([1])],
      ["three": [1, 2, "x"]], ["deep": ["a": [true, 1]]], ["deep": [1]], 1, nil,
    ] {
      let expected = place { _ = try ValueDecoder().decode(Outer.self, from: wrong) }
      #expect(place { _ = try decoded(Outer.self, of: wrong) } == expected)
      #expect(expected != nil)
    }
  }

  @Test("refuses what the codec of values refuses, at the same byte")
  func refusals() throws {
    struct File: Decodable {
      struct Message: Decodable {
        var codec: String?
        var hex: String?
      }
      var messages: [Message]?
      var vectors: [Message]?
    }
    func read(_ name: String) throws -> [File.Message] {
      let text = try repositoryText("conformance/\(name).json")
      let file = try JSONDecoder().decode(File.self, from: Data(text.utf8))
      return (file.messages ?? []) + (file.vectors ?? [])
    }
    let messages = try (read("corpus") + read("vectors")).compactMap { message -> [UInt8]? in
      guard message.codec == "standard", let hex = message.hex else { return nil }
      let digits = Array(hex.utf8).compactMap(hexValue)
      return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
    #expect(messages.count > 50)
    func compare(_ message: [UInt8]) {
      let expected = failure { _ = try codec.ofValues().decode(message) }
      let found = failure {
        _ = try message.withUnsafeBytes { try IndexedMessage($0, StandardRules(.standard)) }
      }
      if found != expected {
        Issue.record("\(found ?? "accepted"), not \(expected ?? "accepted"): \(message)")
      }
    }
    for message in messages where message.count < 2000 {
      compare(message)
      for end in message.indices.prefix(60) { compare(Array(message[..<end])) }
      for at in message.indices.prefix(60) {
        for change in [1, 7, 128, 255] as [UInt8] {
          var changed = message
          changed[at] ^= change
          compare(changed)
        }
      }
    }
  }

  @Test("refuses nesting beyond its limit, and a type that encodes itself without end")
  func depth() throws {
    final class Link: Codable, Sendable {
      let next: Link?
      init(_ next: Link?) { self.next = next }
    }
    let chain = (0..<129).reduce(nil as Link?) { link, _ in Link(link) }
    #expect(failure { _ = try bytes(chain) }?.hasPrefix("too-deep") == true)
    #expect(try decoded(Link.self, try bytes(chain?.next)).next?.next != nil)
    #expect(failure { _ = try bytes([[[1]]], depthMax: 2) }?.hasPrefix("too-deep") == true)
    struct Endless: Encodable {
      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(self)
      }
    }
    #expect(throws: EncodingError.self) { try bytes(Endless()) }
  }

  @Test("leaves nothing in the message of a value that could not be encoded")
  func failures() throws {
    struct Broken: Error {}
    let broken = By { encoder in
      var map = encoder.container(keyedBy: PathKey.self)
      try map.encode([1.5], forKey: .name("half"))
      throw Broken()
    }
    #expect(throws: Broken.self) { try bytes(broken) }
    let patient = By { encoder in
      var map = encoder.container(keyedBy: PathKey.self)
      try? map.encode(broken, forKey: .name("broken"))
      try map.encode(1, forKey: .name("a"))
      try? map.encode([broken], forKey: .name("list"))
      try map.encode([2], forKey: .name("b"))
    }
    #expect(try value(patient) == ["a": 1, "b": [2]])
    let choice = By { encoder in
      var single = encoder.singleValueContainer()
      do { try single.encode(broken) } catch { try single.encode("instead") }
    }
    #expect(try value([choice]) == ["instead"])
  }

  @Test("refuses containers that are used twice, in turn, or after their value")
  func misuse() throws {
    var kept: KeyedEncodingContainer<PathKey>?
    let keeper = By { encoder in
      kept = encoder.container(keyedBy: PathKey.self)
      try kept?.encode(1, forKey: .name("a"))
    }
    #expect(try value(keeper) == ["a": 1])
    var late = try #require(kept)
    #expect(throws: EncodingError.self) { try late.encode(2, forKey: .name("b")) }
    let twice = By { encoder in
      var single = encoder.singleValueContainer()
      try single.encode(1)
      try single.encode(2)
    }
    #expect(throws: EncodingError.self) { try bytes(twice) }
    let both = By { encoder in
      _ = encoder.unkeyedContainer()
      _ = encoder.container(keyedBy: PathKey.self)
    }
    #expect(throws: EncodingError.self) { try bytes(both) }
    let meddling = By { outer in
      var map = outer.container(keyedBy: PathKey.self)
      var same = map
      let inner = By { encoder in
        var list = encoder.unkeyedContainer()
        try list.encode(1)
        try same.encode(2, forKey: .name("within"))
      }
      try map.encode(inner, forKey: .name("inner"))
    }
    #expect(throws: EncodingError.self) { try bytes(meddling) }
  }

  @Test("lets a decoder that outlives its message read on")
  func keptDecoder() throws {
    struct Lazy: Decodable {
      let container: KeyedDecodingContainer<PathKey>
      init(from decoder: any Decoder) throws {
        container = try decoder.container(keyedBy: PathKey.self)
      }
    }
    let lazy: Lazy = try {
      var message = try codec.encode(["a": "a text of more than fifteen bytes", "b": [1, 2]])
      let lazy = try decoded(Lazy.self, message)
      for at in message.indices { message[at] = 0xff }
      return lazy
    }()
    #expect(
      try lazy.container.decode(String.self, forKey: .name("a"))
        == "a text of more than fifteen bytes")
    #expect(try lazy.container.decode([Int].self, forKey: .name("b")) == [1, 2])
  }
}

/// Returns the code and the place of the error that `body` throws.
private func failure(_ body: () throws -> Void) -> String? {
  do {
    try body()
    return nil
  } catch let error as ClearwayError {
    return error.offset.map { "\(error.code.rawValue) at \($0)" } ?? error.code.rawValue
  } catch {
    return "\(error)"
  }
}
