// SPDX-License-Identifier: MIT OR Apache-2.0

/// The type bytes of the standard codec (`spec/wire.md`).
enum Tag {
  static let null: UInt8 = 0
  static let yes: UInt8 = 1
  static let no: UInt8 = 2
  static let int32: UInt8 = 3
  static let int64: UInt8 = 4
  static let big: UInt8 = 5
  static let float64: UInt8 = 6
  static let text: UInt8 = 7
  static let bytes: UInt8 = 8
  static let int32s: UInt8 = 9
  static let int64s: UInt8 = 10
  static let float64s: UInt8 = 11
  static let list: UInt8 = 12
  static let map: UInt8 = 13
  static let float32s: UInt8 = 14
  /// A list of numbers that travels next to its message (`spec/channel.md`).
  static let attached: UInt8 = 127
  /// The first type byte of the app's own types.
  static let extensionMin: UInt8 = 128
}

/// Returns the number of bytes of an element in a list of numbers, or nil for another type byte.
@inline(__always)
func elementBytes(_ tag: UInt8) -> Int? {
  switch tag {
  case Tag.bytes: 1
  case Tag.int32s, Tag.float32s: 4
  case Tag.int64s, Tag.float64s: 8
  default: nil
  }
}

/// The first byte of a size or a count.
enum SizeByte {
  /// The largest size of one byte.
  static let oneMax = 253
  static let two: UInt8 = 254
  static let four: UInt8 = 255
}

/// The first byte of a reply.
enum Envelope {
  static let success: UInt8 = 0
  static let error: UInt8 = 1
}
