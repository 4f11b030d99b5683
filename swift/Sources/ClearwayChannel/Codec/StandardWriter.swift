// SPDX-License-Identifier: MIT OR Apache-2.0

extension ByteWriter {
  /// Writes a value with its type byte. `depth` counts the lists, maps and custom values around it.
  mutating func value(_ value: Value, _ depth: Int, _ rules: StandardRules) throws(ClearwayError) {
    switch value {
    case .null: try byte(Tag.null)
    case .bool(let flag): try byte(flag ? Tag.yes : Tag.no)
    case .int(let wide): try integer(wide)
    case .double(let number): try float64(number)
    case .string(let string): try taggedText(string)
    case .big(let big): try self.big(big)
    case .bytes(let list): try numbers(Tag.bytes, list)
    case .int32s(let list): try numbers(Tag.int32s, list)
    case .int64s(let list): try numbers(Tag.int64s, list)
    case .floats(let list): try numbers(Tag.float32s, list)
    case .doubles(let list): try numbers(Tag.float64s, list)
    case .list(let list):
      try enter(depth, rules.limits.depthMax)
      try byte(Tag.list)
      try size(list.count)
      for each in list { try self.value(each, depth + 1, rules) }
    case .map(let map):
      try enter(depth, rules.limits.depthMax)
      try byte(Tag.map)
      try size(map.count)
      for entry in map.entries {
        try self.value(entry.key, depth + 1, rules)
        try self.value(entry.value, depth + 1, rules)
      }
    case .custom(let own):
      guard let writing = rules.extensions?.of(type(of: own.base)) else { throw unknown(own) }
      try custom(own.base, writing, depth, rules)
    }
  }

  /// Writes an integer with its type byte: 32 bits if they suffice.
  @inline(__always)
  mutating func integer(_ wide: Int64) throws(ClearwayError) {
    let narrow = Int32(truncatingIfNeeded: wide)
    if Int64(narrow) == wide { try tagged(Tag.int32, narrow) } else { try tagged(Tag.int64, wide) }
  }

  /// Writes a float with its type byte.
  @inline(__always)
  mutating func float64(_ number: Double) throws(ClearwayError) {
    try byte(Tag.float64)
    try pad(8)
    try self.number(number)
  }

  @inline(__always)
  mutating func taggedText(_ text: String) throws(ClearwayError) {
    try byte(Tag.text)
    try size(text.utf8.count)
    try self.text(text)
  }

  mutating func textOrNull(_ text: String?) throws(ClearwayError) {
    if let text { try taggedText(text) } else { try byte(Tag.null) }
  }

  /// Throws `too-deep` unless a list or a map may begin inside `depth` others.
  @inline(__always)
  func enter(_ depth: Int, _ depthMax: Int) throws(ClearwayError) {
    if depth >= depthMax { throw tooDeep(depthMax) }
  }

  @inline(never)
  private func unknown(_ value: CustomValue) -> ClearwayError {
    ClearwayError(
      .notEncodable, "the codec has no extension for \(type(of: value.base))", offset: count)
  }

  @inline(never)
  private func tooDeep(_ depthMax: Int) -> ClearwayError {
    ClearwayError(.tooDeep, "values are nested deeper than \(depthMax)", offset: count)
  }

  /// Writes a list of numbers with its type byte.
  mutating func numbers<N: BitwiseCopyable>(_ tag: UInt8, _ list: [N]) throws(ClearwayError) {
    try byte(tag)
    try size(list.count)
    try pad(MemoryLayout<N>.size)
    try within(list) { bytes throws(ClearwayError) in try raw(bytes) }
  }

  private mutating func big(_ big: BigInteger) throws(ClearwayError) {
    if let small = big.int64 { return try integer(small) }
    if big.hexDigits.utf8.count > BigInteger.digitsMax {
      throw ClearwayError(.tooLarge, "a big integer of too many digits", offset: count)
    }
    try byte(Tag.big)
    try size(big.hexDigits.utf8.count + (big.isNegative ? 1 : 0))
    if big.isNegative { try byte(UInt8(ascii: "-")) }
    try text(big.hexDigits)
  }
}
