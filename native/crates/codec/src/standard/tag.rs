// SPDX-License-Identifier: MIT OR Apache-2.0

// A value is a type byte and a body. All numbers are little-endian.
//
//    ┌─────┐              null, true, false
//    │ tag │
//    ├─────┼───────────┐  int32: 4 bytes; int64: 8 bytes; not aligned
//    │ tag │ integer   │
//    ├─────┼──────┬────┴─────┐  big integer (ASCII hex), text (UTF-8), bytes
//    │ tag │ size │ bytes    │
//    ├─────┼──────┼─────┬────┴─────┐  lists of numbers; float64 has no size
//    │ tag │ size │ pad │ elements │  pad: zeros up to a multiple of the element, from byte 0 of the message
//    ├─────┼──────┼─────┴────┬─────┘  list: values; map: key and value in turn
//    │ tag │ size │ values … │
//    └─────┴──────┴──────────┘
//
// Size: one byte up to 253; FE and 2 bytes up to 0xFFFF; FF and 4 bytes above.

pub(super) const NULL: u8 = 0;
pub(super) const TRUE: u8 = 1;
pub(super) const FALSE: u8 = 2;
pub(super) const INT32: u8 = 3;
pub(super) const INT64: u8 = 4;
pub(super) const BIG: u8 = 5;
pub(super) const FLOAT64: u8 = 6;
pub(super) const TEXT: u8 = 7;
pub(super) const BYTES: u8 = 8;
pub(super) const INT32S: u8 = 9;
pub(super) const INT64S: u8 = 10;
pub(super) const FLOAT64S: u8 = 11;
pub(super) const LIST: u8 = 12;
pub(super) const MAP: u8 = 13;
pub(super) const FLOAT32S: u8 = 14;

pub(super) const SIZE_ONE_MAX: usize = 0xfd;
pub(super) const SIZE_TWO: u8 = 0xfe;
pub(super) const SIZE_TWO_MAX: usize = 0xffff;
pub(super) const SIZE_FOUR: u8 = 0xff;

pub(super) const SUCCESS: u8 = 0;
pub(super) const ERROR: u8 = 1;
