// SPDX-License-Identifier: MIT OR Apache-2.0
#include "message.h"

// Writes a size or a count. Returns false if the number does not fit into four bytes.
static bool put_size(clearway_message *message, size_t size) {
  if (size <= SIZE_ONE_MAX) {
    put_byte(message, (uint8_t)size);
    return true;
  }
#if SIZE_MAX > UINT32_MAX
  if (size > UINT32_MAX) return false;
#endif
  const uint32_t value = (uint32_t)size;
  put_byte(message, size <= 0xffff ? SIZE_TWO : SIZE_FOUR);
  put(message, &value, size <= 0xffff ? 2 : 4);
  return true;
}

static void put_padding(clearway_message *message, size_t alignment) {
  static const uint8_t zeros[8];
  put(message, zeros, (alignment - message->size % alignment) % alignment);
}

static clearway_codec_result put_bytes(clearway_message *message, uint8_t tag, const uint8_t *bytes, size_t size) {
  put_byte(message, tag);
  if (!put_size(message, size)) return result(CLEARWAY_CODEC_TOO_LARGE, message->size);
  put(message, bytes, size);
  return done;
}

static clearway_codec_result put_text(clearway_message *message, const clearway_value *value) {
  if (codec_utf8_valid_until(value->as.bytes, 0, value->count) == value->count)
    return put_bytes(message, TAG_TEXT, value->as.bytes, value->count);
  put_byte(message, TAG_TEXT);
  return result(CLEARWAY_CODEC_NOT_ENCODABLE, message->size);
}

static void put_integer(clearway_message *message, int64_t integer) {
  const bool narrow = integer >= INT32_MIN && integer <= INT32_MAX;
  put_byte(message, narrow ? TAG_INT32 : TAG_INT64);
  // The host is little-endian, so the first four bytes are the lower half of the integer.
  put(message, &integer, narrow ? 4 : 8);
}

static clearway_codec_result put_big_integer(clearway_message *message, const clearway_value *value) {
  if (!codec_is_hex_integer(value->as.bytes, value->count)) return result(CLEARWAY_CODEC_NOT_ENCODABLE, message->size);
  const size_t sign = value->as.bytes[0] == '-';
  const uint8_t *digits = value->as.bytes + sign;
  size_t count = value->count - sign;
  while (count > 1 && *digits == '0') digits++, count--;
  if (count > BIG_INTEGER_DIGITS_MAX) return result(CLEARWAY_CODEC_TOO_LARGE, message->size);
  // If the value fits into 64 bits, writes it as an integer. All languages choose the narrowest type.
  if (count <= 16) {
    uint64_t magnitude = 0;
    for (size_t at = 0; at < count; at++)
      magnitude = magnitude << 4 | (digits[at] <= '9' ? digits[at] - (unsigned)'0' : (digits[at] | 0x20u) - 'a' + 10u);
    if (magnitude <= (uint64_t)INT64_MAX + sign) {
      put_integer(message, sign ? (int64_t)(~magnitude + 1) : (int64_t)magnitude);
      return done;
    }
  }
  put_byte(message, TAG_BIG_INTEGER);
  put_size(message, count + sign);
  put(message, "-", sign);
  for (size_t at = 0; at < count; at++) put_byte(message, digits[at] >= 'A' && digits[at] <= 'F' ? digits[at] | 0x20 : digits[at]);
  return done;
}

static clearway_codec_result put_numbers(clearway_message *message, const clearway_value *value) {
  static const uint8_t tags[] = {TAG_UINT8_LIST, TAG_INT32_LIST, TAG_INT64_LIST, TAG_FLOAT64_LIST, TAG_FLOAT32_LIST};
  const size_t width = width_of(value->kind);
  put_byte(message, tags[value->kind - CLEARWAY_KIND_UINT8_LIST]);
  if (value->count > SIZE_MAX / width || !put_size(message, value->count))
    return result(CLEARWAY_CODEC_TOO_LARGE, message->size);
  put_padding(message, width);
  put(message, value->as.bytes, value->count * width);
  return done;
}

// Writes a list or a map and its contents. `depth_max` limits the recursion.
static clearway_codec_result put_inside(clearway_message *message, uint32_t depth_max, uint32_t depth,
                                        const clearway_value *value) {
  if (depth >= depth_max) return result(CLEARWAY_CODEC_TOO_DEEP, message->size);
  put_byte(message, value->kind == CLEARWAY_KIND_MAP ? TAG_MAP : TAG_LIST);
  if (!put_size(message, value->count)) return result(CLEARWAY_CODEC_TOO_LARGE, message->size);
  for (const clearway_value *each = value + 1; each < value + value->nodes; each += each->nodes) {
    const clearway_codec_result answer = codec_put_value(message, depth_max, depth + 1, each);
    if (answer.code != CLEARWAY_CODEC_OK) return answer;
  }
  return done;
}

clearway_codec_result codec_put_value(clearway_message *message, uint32_t depth_max, uint32_t depth, const clearway_value *value) {
  switch (value->kind) {
    case CLEARWAY_KIND_NULL:
      put_byte(message, TAG_NULL);
      return done;
    case CLEARWAY_KIND_BOOL:
      put_byte(message, value->as.boolean ? TAG_TRUE : TAG_FALSE);
      return done;
    case CLEARWAY_KIND_INTEGER:
      put_integer(message, value->as.integer);
      return done;
    case CLEARWAY_KIND_BIG_INTEGER:
      return put_big_integer(message, value);
    case CLEARWAY_KIND_FLOAT64:
      put_byte(message, TAG_FLOAT64);
      put_padding(message, 8);
      put(message, &value->as.float64, 8);
      return done;
    case CLEARWAY_KIND_TEXT:
      return put_text(message, value);
    case CLEARWAY_KIND_LIST:
    case CLEARWAY_KIND_MAP:
      return put_inside(message, depth_max, depth, value);
    default:
      return is_number_list(value->kind) ? put_numbers(message, value)
                                         : result(CLEARWAY_CODEC_NOT_ENCODABLE, message->size);
  }
}

clearway_codec_result clearway_write_standard(clearway_message *message, const clearway_codec_limits *limits,
                                              const clearway_value *value) {
  if (!is_little_endian()) return result(CLEARWAY_CODEC_UNSUPPORTED_HOST, 0);
  const clearway_codec_result answer = codec_put_value(message, depth_max_of(limits), 0, value);
  return answer.code == CLEARWAY_CODEC_OK ? written(message) : answer;
}
