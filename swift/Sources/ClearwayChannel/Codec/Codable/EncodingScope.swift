// SPDX-License-Identifier: MIT OR Apache-2.0

/// The encoder of one value of a message.
///
/// It writes into the message while it is the innermost scope. What a container of it writes is
/// dropped if the value cannot be encoded.
final class EncodingScope: Encoder {
  private enum Kind {
    case undecided
    case single
    case list
    case bytes
    case map
  }

  let message: MessageEncoder
  private let parent: EncodingScope?
  private let key: (any CodingKey)?
  private let index: Int
  /// The lists and maps around the value.
  private let depth: Int
  private let expected: Int
  /// The offset of the value's type byte.
  private let start: Int
  @exclusivity(unchecked) private var kind = Kind.undecided
  /// The size of the count behind the type byte.
  private var countBytes = 1
  /// The elements or entries that were written.
  @exclusivity(unchecked) private var count = 0
  /// Collects the parts, once one of them may be filled later than the following ones.
  @exclusivity(unchecked) private var collected: CollectingEncoder?
  @exclusivity(unchecked) private var failure: (any Error)?

  init(
    _ message: MessageEncoder, parent: EncodingScope?, key: (any CodingKey)?, index: Int,
    depth: Int, expecting expected: Int
  ) {
    self.message = message
    self.parent = parent
    self.key = key
    self.index = index
    self.depth = depth
    self.expected = expected
    start = message.writer.count
  }

  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// The elements or entries so far.
  var size: Int { collected?.count ?? count }

  var codingPath: [any CodingKey] {
    var path: [any CodingKey] = []
    var scope = self
    while let parent = scope.parent {
      if let key = scope.key {
        path.append(key)
      } else if scope.index >= 0 {
        path.append(PathKey.index(scope.index))
      }
      scope = parent
    }
    return path.reversed()
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    open(.map, Tag.map)
    return KeyedEncodingContainer(KeyedScope<Key>(scope: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    if kind != .bytes { open(.list, Tag.list) }
    return UnkeyedScope(scope: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { SingleScope(scope: self) }

  /// Begins the list or the map, with room for its count.
  private func open(_ wanted: Kind, _ tag: UInt8) {
    if kind == wanted { return }
    guard kind == .undecided, message.current === self else { return fail(misuse()) }
    kind = wanted
    countBytes = expected <= SizeByte.oneMax ? 1 : expected <= 0xffff ? 3 : 5
    do {
      try message.writer.enter(depth, message.rules.limits.depthMax)
      try message.writer.byte(tag)
      for _ in 0..<countBytes { try message.writer.byte(0) }
    } catch {
      fail(error)
    }
  }

  private func fail(_ error: any Error) { failure = failure ?? error }

  private func misuse() -> EncodingError {
    .invalidValue(
      self,
      .init(
        codingPath: codingPath,
        debugDescription: "an encoder was used for two values, or after its value was encoded"))
  }

  /// Throws unless this scope may write.
  @inline(__always)
  private func check() throws {
    if let failure { throw failure }
    if message.current !== self { throw misuse() }
  }

  // MARK: Parts

  /// Writes an entry of the map.
  @inline(__always)
  func entry(
    _ key: String, value: () throws -> Value, write: () throws -> Void
  ) throws {
    try check()
    if let collected { return collected.append(key, .value(try value())) }
    let before = message.writer.count
    do {
      try message.writer.taggedText(key)
      try write()
      count += 1
    } catch {
      message.writer.truncate(to: before)
      throw error
    }
  }

  /// Writes an element of the list.
  @inline(__always)
  func element(value: () throws -> Value, write: () throws -> Void) throws {
    try check()
    if kind == .bytes { _ = collecting() }
    if let collected { return collected.append(.value(try value())) }
    let before = message.writer.count
    do {
      try write()
      count += 1
    } catch {
      message.writer.truncate(to: before)
      throw error
    }
  }

  /// Writes bytes as elements of the list. A list that has nothing else is a list of bytes.
  func elements(_ bytes: [UInt8]) throws {
    try check()
    if kind == .bytes { _ = collecting() }
    if let collected { return collected.append(bytes: bytes) }
    if count > 0 {
      let before = message.writer.count
      do {
        for byte in bytes { try message.writer.integer(Int64(byte)) }
      } catch {
        message.writer.truncate(to: before)
        throw error
      }
    } else {
      message.writer.truncate(to: start)
      do {
        try message.writer.numbers(Tag.bytes, bytes)
      } catch {
        // The beginning of the list is gone.
        fail(error)
        throw error
      }
      kind = .bytes
    }
    count += bytes.count
  }

  /// Writes the only value.
  @inline(__always)
  func single(_ write: () throws -> Void) throws {
    try check()
    guard kind == .undecided || kind == .single, count == 0 else { throw misuse() }
    kind = .single
    do {
      try write()
      count = 1
    } catch {
      message.writer.truncate(to: start)
      kind = .undecided
      throw error
    }
  }

  /// Writes a value of any type inside this one.
  @inline(__always)
  func write<T: Encodable>(
    _ value: T, _ key: @autoclosure () -> (any CodingKey)?, index: Int = -1
  ) throws {
    let inside = kind == .single ? depth : depth + 1
    if try message.writePlain(value, depth: inside) { return }
    try message.write(value, from: self, key: key(), index: index, depth: inside)
  }

  /// Returns the value of a part that is collected.
  func boxed<T: Encodable>(_ value: T, path: @autoclosure () -> [any CodingKey]) throws -> Value {
    try collecting().boxed(value, path: path())
  }

  /// Collects the parts from now on, and takes what was written back.
  func collecting() -> CollectingEncoder {
    if let collected { return collected }
    let made = CollectingEncoder(
      codingPath: codingPath, message.rules.extensions, nesting: message.nesting)
    do {
      try check()
      if kind == .map {
        made.begin(map: try takeBack(2 * count))
      } else {
        made.begin(list: try takeBack(count))
      }
      collected = made
    } catch {
      // What is added to it is dropped, and the value is not encoded.
      fail(error)
    }
    return made
  }

  /// Returns the values that were written, and drops their bytes.
  private func takeBack(_ count: Int) throws -> [Value] {
    let from = start + 1 + countBytes
    let isBytes = kind == .bytes
    let (start, unlimited) = (start, message.rules.unlimited)
    let values = try message.writer.withBytes { bytes in
      var source = StandardReader(bytes, unlimited)
      source.reader.at = isBytes ? start : from
      if isBytes, case .bytes(let list) = try source.value(0) {
        return list.map { Value.int(Int64($0)) }
      }
      return try (0..<count).map { _ in try source.value(0) }
    }
    message.writer.truncate(to: start)
    return values
  }

  /// Writes what is missing after the type has encoded itself.
  func finish() throws {
    if let failure { throw failure }
    if let collected { return try message.writer.value(collected.result, depth, message.rules) }
    switch kind {
    case .map, .list: try writeCount()
    case .bytes: break
    case .single, .undecided:
      // Swift's own encoders write a type that encodes nothing as an empty map.
      if count == 0 { try message.writer.value(.map(ValueMap()), depth, message.rules) }
    }
  }

  private func writeCount() throws {
    let at = start + 1
    if countBytes == 1, count <= SizeByte.oneMax {
      message.writer.put(UInt8(count), at: at)
    } else if countBytes == 3, count > SizeByte.oneMax, count <= 0xffff {
      message.writer.put(SizeByte.two, at: at)
      message.writer.put(UInt16(count), at: at + 1)
    } else if countBytes == 5, count > 0xffff, count <= 0xffff_ffff {
      message.writer.put(SizeByte.four, at: at)
      message.writer.put(UInt32(count), at: at + 1)
    } else {
      // The count has another size than expected. The values move, and so do their paddings.
      let tag = kind == .map ? Tag.map : Tag.list
      let values = try takeBack(kind == .map ? 2 * count : count)
      try message.writer.byte(tag)
      try message.writer.size(count)
      for each in values { try message.writer.value(each, depth + 1, message.rules) }
    }
  }
}
