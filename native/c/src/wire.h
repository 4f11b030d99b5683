// SPDX-License-Identifier: MIT OR Apache-2.0
// The format of the standard codec, which spec/wire.md specifies. A value is a type byte and a body. All numbers are
// little-endian.
//
//    +-----+              null, true, false
//    | tag |
//    +-----+-----------+  int32: 4 bytes; int64: 8 bytes; not aligned
//    | tag | integer   |
//    +-----+------+----+-----+  big integer (ASCII hex), text (UTF-8), uint8 list
//    | tag | size | bytes    |
//    +-----+------+-----+----+-----+  int32, int64, float32, float64 list; float64 has no size
//    | tag | size | pad | elements |  pad: up to a multiple of the element's size, from byte 0 of the message
//    +-----+------+-----+----+-----+  list: values; map: key and value in turn
//    | tag | size | values ...|
//    +-----+------+-----------+
//
//    A size takes one byte up to 253, FE and two bytes up to 0xFFFF, and FF and four bytes above that.
#ifndef CLEARWAY_C_WIRE_H
#define CLEARWAY_C_WIRE_H

#include "clearway_codec.h"

enum {
  TAG_NULL = 0,
  TAG_TRUE = 1,
  TAG_FALSE = 2,
  TAG_INT32 = 3,
  TAG_INT64 = 4,
  TAG_BIG_INTEGER = 5,
  TAG_FLOAT64 = 6,
  TAG_TEXT = 7,
  TAG_UINT8_LIST = 8,
  TAG_INT32_LIST = 9,
  TAG_INT64_LIST = 10,
  TAG_FLOAT64_LIST = 11,
  TAG_LIST = 12,
  TAG_MAP = 13,
  TAG_FLOAT32_LIST = 14,
};

enum { SIZE_ONE_MAX = 0xfd, SIZE_TWO = 0xfe, SIZE_FOUR = 0xff };
enum { ENVELOPE_SUCCESS = 0, ENVELOPE_ERROR = 1 };

/**
 * The maximum number of hex digits of a big integer. It is the same in every language. The limit exists because the time to
 * convert the digits to decimals grows with the square of their number.
 */
enum { BIG_INTEGER_DIGITS_MAX = 1 << 20 };

static inline bool is_number_list(clearway_kind kind) {
  return kind >= CLEARWAY_KIND_UINT8_LIST && kind <= CLEARWAY_KIND_FLOAT32_LIST;
}

/** Returns the size of one element of a list of numbers, in bytes. */
static inline size_t width_of(clearway_kind kind) {
  switch (kind) {
    case CLEARWAY_KIND_INT32_LIST:
    case CLEARWAY_KIND_FLOAT32_LIST:
      return 4;
    case CLEARWAY_KIND_INT64_LIST:
    case CLEARWAY_KIND_FLOAT64_LIST:
      return 8;
    default:
      return 1;
  }
}

static inline bool is_little_endian(void) {
  const uint16_t one = 1;
  return *(const uint8_t *)&one == 1;
}

static inline clearway_codec_result result(clearway_codec_code code, size_t offset) {
  return (clearway_codec_result){.code = code, .offset = offset};
}

static const clearway_codec_result done = {.code = CLEARWAY_CODEC_OK, .offset = 0};

static const clearway_value null_value = {.kind = CLEARWAY_KIND_NULL, .nodes = 1};

/** Returns whether the value is a text, null, or missing (a null pointer). */
static inline bool is_text_or_null(const clearway_value *value) {
  return value == NULL || value->kind == CLEARWAY_KIND_NULL || value->kind == CLEARWAY_KIND_TEXT;
}

/** Returns the position of the first ill-formed sequence of UTF-8 from `start` to `end`. Returns `end` if there is none. */
size_t codec_utf8_valid_until(const uint8_t *bytes, size_t start, size_t end);

/** Returns whether the bytes are an optional `-` and at least one hex digit. */
bool codec_is_hex_integer(const uint8_t *digits, size_t size);

#endif
