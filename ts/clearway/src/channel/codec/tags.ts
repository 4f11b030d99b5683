// SPDX-License-Identifier: MIT OR Apache-2.0
import { invalid } from "../../error/clearway-error.js";

//  Standard codec (spec/wire.md): a value has a type byte and a body. All numbers are little-endian.
//
//    ┌─────┐              null, true, false
//    │ tag │
//    ├─────┼───────────┐  int32: 4 bytes; int64: 8 bytes; not aligned
//    │ tag │ integer   │
//    ├─────┼──────┬────┴─────┐  big integer (ASCII hex), string (UTF-8), uint8 list
//    │ tag │ size │ bytes    │
//    ├─────┼──────┼─────┬────┴─────┐  int32, int64, float32, float64 list; float64 has no size
//    │ tag │ size │ pad │ elements │  pad: zeros up to a multiple of the element size, from byte 0 of the message
//    ├─────┼──────┼─────┴────┬─────┘  list: values; map: keys and values in turn
//    │ tag │ size │ values … │
//    ├─────┼──────┴───┬──────┘  128 and up: the bytes that the extension wrote
//    │ tag │ body     │
//    └─────┴──────────┘
//
//  Size: one byte up to 253; FE and 2 bytes up to 0xFFFF; FF and 4 bytes above.

export const Tag = {
  null: 0,
  true: 1,
  false: 2,
  int32: 3,
  int64: 4,
  bigInteger: 5,
  float64: 6,
  string: 7,
  uint8List: 8,
  int32List: 9,
  int64List: 10,
  float64List: 11,
  list: 12,
  map: 13,
  float32List: 14,
} as const;

/**
 * Type byte of a reference to an attachment. The list's own tag follows, then the attachment's number as a size. Only ends that
 * agreed on Clearway's wire (spec/channel.md) use this type byte. Elsewhere it is reserved, and reading it is an error.
 */
export const attachmentTag = 127;

/** The range of extension tags. The tags 15 to 127 are reserved. */
export const extensionTags = { min: 128, max: 255 } as const;

/**
 * Limits and markers of a size. `oneMax` is the largest size in one byte. The marker `two` precedes a size of 2 bytes, up to
 * `twoMax`. The marker `four` precedes a size of 4 bytes, up to `fourMax`.
 */
export const sizes = { oneMax: 0xfd, two: 0xfe, twoMax: 0xffff, four: 0xff, fourMax: 0xffff_ffff } as const;

/** The first byte of a reply's envelope. */
export const Envelope = { success: 0, error: 1 } as const;

/** A number that the standard codec encodes as float64, even if it is whole. In arithmetic it acts as the number. */
export class Float64 {
  constructor(readonly value: number) {}

  /** Returns the number, so that arithmetic works. */
  valueOf(): number {
    return this.value;
  }

  /** Returns the number for `JSON.stringify`. */
  toJSON(): number {
    return this.value;
  }
}

/**
 * Makes the standard codec encode a number as float64. Without this function, the codec encodes a whole number as an integer.
 * Some receivers distinguish integers from floats. Throws `invalid-argument` unless the value is a number.
 */
export function float64(value: number): Float64 {
  if (typeof value !== "number") throw invalid("value", "a number", value);
  return new Float64(value);
}
