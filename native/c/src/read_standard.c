// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads values of the standard codec, and the calls and replies of its method codec.

#include <string.h>

#include "wire.h"

/** A position in a message, and the first error in `failed`. After an error, the functions read no more. */
typedef struct reader {
  const uint8_t *bytes;
  size_t size;
  size_t at;
  uint32_t depth_max;
  /** The number of values that further lists and maps of the message may announce. */
  uint64_t items_left;
  clearway_values *values;
  clearway_codec_result failed;
} reader;

/** Makes a reader at the first byte of a message. Fails on a big-endian host. */
static reader codec_reader(const uint8_t *bytes, size_t size, const clearway_codec_limits *limits, clearway_values *values) {
  if (limits == NULL) limits = &clearway_codec_default_limits;
  reader in = {.bytes = bytes,
               .size = size,
               .depth_max = limits->depth_max,
               .items_left = limits->items_max,
               .values = values,
               .failed = done};
  if (!is_little_endian()) in.failed = result(CLEARWAY_CODEC_UNSUPPORTED_HOST, 0);
  return in;
}

/** Records an error. Always returns false. */
static bool codec_refuse(reader *in, clearway_codec_code code, size_t offset) {
  in->failed = result(code, offset);
  return false;
}

// Checks that `count` bytes are left. `from` is the offset for the error. `count` has 64 bits, because the product of a count and
// a width could overflow a size_t of 32 bits.
static bool need(reader *in, uint64_t count, size_t from) {
  return count <= in->size - in->at || codec_refuse(in, CLEARWAY_CODEC_TRUNCATED, from);
}

static bool read_size(reader *in, size_t *size) {
  const size_t from = in->at;
  if (!need(in, 1, from)) return false;
  const uint8_t first = in->bytes[in->at++];
  if (first <= SIZE_ONE_MAX) {
    *size = first;
    return true;
  }
  const size_t width = first == SIZE_TWO ? 2 : 4;
  if (!need(in, width, from)) return false;
  uint32_t value = 0;
  memcpy(&value, in->bytes + in->at, width);
  in->at += width;
  *size = value;
  return true;
}

static bool pad(reader *in, size_t alignment, size_t from) {
  const size_t over = in->at % alignment;
  if (over == 0) return true;
  if (!need(in, alignment - over, from)) return false;
  in->at += alignment - over;
  return true;
}

static bool read_bytes(reader *in, clearway_value *value) {
  const size_t from = in->at;
  if (!read_size(in, &value->count) || !need(in, value->count, from)) return false;
  value->as.bytes = in->bytes + in->at;
  in->at += value->count;
  return true;
}

static bool read_text(reader *in, clearway_value *value) {
  if (!read_bytes(in, value)) return false;
  const size_t valid = codec_utf8_valid_until(in->bytes, in->at - value->count, in->at);
  return valid == in->at || codec_refuse(in, CLEARWAY_CODEC_BAD_UTF8, valid);
}

static bool read_big_integer(reader *in, clearway_value *value) {
  const size_t from = in->at;
  if (!read_bytes(in, value)) return false;
  const size_t sign = value->count > 0 && value->as.bytes[0] == '-';
  if (value->count - sign > BIG_INTEGER_DIGITS_MAX) return codec_refuse(in, CLEARWAY_CODEC_TOO_LARGE, from);
  const size_t valid = codec_utf8_valid_until(in->bytes, in->at - value->count, in->at);
  if (valid != in->at) return codec_refuse(in, CLEARWAY_CODEC_BAD_UTF8, valid);
  return codec_is_hex_integer(value->as.bytes, value->count) || codec_refuse(in, CLEARWAY_CODEC_MALFORMED, from);
}

static bool read_integer(reader *in, size_t width, clearway_value *value) {
  if (!need(in, width, in->at)) return false;
  int32_t narrow;
  if (width == sizeof narrow) {
    memcpy(&narrow, in->bytes + in->at, sizeof narrow);
    value->as.integer = narrow;
  } else {
    memcpy(&value->as.integer, in->bytes + in->at, sizeof value->as.integer);
  }
  in->at += width;
  return true;
}

static bool read_float64(reader *in, clearway_value *value) {
  const size_t from = in->at;
  if (!pad(in, 8, from) || !need(in, 8, from)) return false;
  memcpy(&value->as.float64, in->bytes + in->at, sizeof value->as.float64);
  in->at += 8;
  return true;
}

static bool read_numbers(reader *in, clearway_value *value) {
  const size_t from = in->at;
  const size_t width = width_of(value->kind);
  if (!read_size(in, &value->count) || !pad(in, width, from)) return false;
  const uint64_t size = (uint64_t)value->count * width;
  if (!need(in, size, from)) return false;
  value->as.bytes = in->bytes + in->at;
  in->at += (size_t)size;
  return true;
}

// Reads the count of a list or a map. Refuses a count that exceeds the remaining bytes or the limit. Sets `*inside` to the number
// of values in the list or the map.
static bool read_count(reader *in, uint32_t depth, clearway_value *value, uint32_t *inside) {
  if (depth >= in->depth_max) return codec_refuse(in, CLEARWAY_CODEC_TOO_DEEP, in->at - 1);
  const size_t from = in->at;
  if (!read_size(in, &value->count)) return false;
  const uint64_t items = (uint64_t)value->count * (value->kind == CLEARWAY_KIND_MAP ? 2 : 1);
  if (!need(in, items, from)) return false;
  if (items > in->items_left) return codec_refuse(in, CLEARWAY_CODEC_TOO_LARGE, from);
  in->items_left -= items;
  *inside = (uint32_t)items;
  return true;
}

static bool read_one(reader *in, uint32_t depth, clearway_value *value, uint32_t *inside) {
  if (!need(in, 1, in->at)) return false;
  const uint8_t tag = in->bytes[in->at++];
  *inside = 0;
  *value = (clearway_value){.kind = CLEARWAY_KIND_NULL, .nodes = 1};
  switch (tag) {
    case TAG_NULL:
      return true;
    case TAG_TRUE:
    case TAG_FALSE:
      value->kind = CLEARWAY_KIND_BOOL;
      value->as.boolean = tag == TAG_TRUE;
      return true;
    case TAG_INT32:
    case TAG_INT64:
      value->kind = CLEARWAY_KIND_INTEGER;
      return read_integer(in, tag == TAG_INT32 ? 4 : 8, value);
    case TAG_BIG_INTEGER:
      value->kind = CLEARWAY_KIND_BIG_INTEGER;
      return read_big_integer(in, value);
    case TAG_FLOAT64:
      value->kind = CLEARWAY_KIND_FLOAT64;
      return read_float64(in, value);
    case TAG_TEXT:
      value->kind = CLEARWAY_KIND_TEXT;
      return read_text(in, value);
    case TAG_UINT8_LIST:
      value->kind = CLEARWAY_KIND_UINT8_LIST;
      return read_numbers(in, value);
    case TAG_INT32_LIST:
      value->kind = CLEARWAY_KIND_INT32_LIST;
      return read_numbers(in, value);
    case TAG_INT64_LIST:
      value->kind = CLEARWAY_KIND_INT64_LIST;
      return read_numbers(in, value);
    case TAG_FLOAT64_LIST:
      value->kind = CLEARWAY_KIND_FLOAT64_LIST;
      return read_numbers(in, value);
    case TAG_FLOAT32_LIST:
      value->kind = CLEARWAY_KIND_FLOAT32_LIST;
      return read_numbers(in, value);
    case TAG_LIST:
    case TAG_MAP:
      value->kind = tag == TAG_LIST ? CLEARWAY_KIND_LIST : CLEARWAY_KIND_MAP;
      return read_count(in, depth, value, inside);
    default:
      return codec_refuse(in, CLEARWAY_CODEC_UNKNOWN_TAG, in->at - 1);
  }
}

// Reads without recursion, so that no message can exhaust the stack. Each open list stores in its own value the index of the list
// around it, and the number of values that it still lacks.
/** Reads a value with its type byte. Sets `*index` to its index in `values->at`. Returns false if the reader has failed. */
static bool codec_read_value(reader *in, size_t *index) {
  clearway_values *values = in->values;
  if (in->failed.code != CLEARWAY_CODEC_OK) return false;
  *index = values->used;
  uint32_t depth = 0;
  uint32_t parent = 0;
  for (;;) {
    if (values->used >= values->capacity || values->used >= UINT32_MAX)
      return codec_refuse(in, CLEARWAY_CODEC_NO_ROOM, in->at);
    clearway_value *value = values->at + values->used;
    uint32_t inside;
    if (!read_one(in, depth, value, &inside)) return false;
    const uint32_t here = (uint32_t)values->used++;
    if (inside > 0) {
      value->as.open.parent = parent;
      value->as.open.left = inside;
      parent = here;
      depth++;
      continue;
    }
    // The value is complete. Completes the lists whose last value it is.
    while (depth > 0) {
      clearway_value *list = values->at + parent;
      if (--list->as.open.left > 0) break;
      list->nodes = (uint32_t)(values->used - parent);
      parent = list->as.open.parent;
      list->as.bytes = NULL;
      depth--;
    }
    if (depth == 0) return true;
  }
}

/** Returns the final result: the first error, else CLEARWAY_CODEC_TRAILING_BYTES if bytes are left, else CLEARWAY_CODEC_OK. */
static clearway_codec_result codec_finish(reader *in) {
  if (in->failed.code == CLEARWAY_CODEC_OK && in->at < in->size) codec_refuse(in, CLEARWAY_CODEC_TRAILING_BYTES, in->at);
  return in->failed;
}

clearway_codec_result clearway_read_standard(const uint8_t *bytes, size_t size, const clearway_codec_limits *limits,
                                             clearway_values *values, const clearway_value **value) {
  reader in = codec_reader(bytes, size, limits, values);
  size_t index = 0;
  codec_read_value(&in, &index);
  const clearway_codec_result answer = codec_finish(&in);
  *value = answer.code == CLEARWAY_CODEC_OK ? values->at + index : NULL;
  return answer;
}

// Reads a text, or null if `or_null` is set. For any other type, refuses the message as malformed at the type byte.
static bool read_text_value(reader *in, bool or_null, size_t *index) {
  if (in->failed.code != CLEARWAY_CODEC_OK) return false;
  if (in->at == in->size) return codec_refuse(in, CLEARWAY_CODEC_TRUNCATED, in->at);
  const uint8_t tag = in->bytes[in->at];
  if (tag != TAG_TEXT && !(or_null && tag == TAG_NULL)) return codec_refuse(in, CLEARWAY_CODEC_MALFORMED, in->at);
  return codec_read_value(in, index);
}

clearway_codec_result clearway_read_standard_call(const uint8_t *bytes, size_t size, const clearway_codec_limits *limits,
                                                  clearway_values *values, clearway_method_call *call) {
  reader in = codec_reader(bytes, size, limits, values);
  size_t method = 0;
  size_t arguments = 0;
  *call = (clearway_method_call){0};
  if (read_text_value(&in, false, &method)) codec_read_value(&in, &arguments);
  const clearway_codec_result answer = codec_finish(&in);
  if (answer.code == CLEARWAY_CODEC_OK)
    *call = (clearway_method_call){.method = values->at + method, .arguments = values->at + arguments};
  return answer;
}

static bool read_error(reader *in, size_t parts[4], bool *with_stack) {
  if (!read_text_value(in, false, &parts[0]) || !read_text_value(in, true, &parts[1]) || !codec_read_value(in, &parts[2]))
    return false;
  *with_stack = in->at < in->size;
  return !*with_stack || read_text_value(in, true, &parts[3]);
}

clearway_codec_result clearway_read_standard_envelope(const uint8_t *bytes, size_t size, const clearway_codec_limits *limits,
                                                   clearway_values *values, clearway_envelope *envelope) {
  reader in = codec_reader(bytes, size, limits, values);
  *envelope = (clearway_envelope){.kind = CLEARWAY_ENVELOPE_NONE};
  if (in.failed.code != CLEARWAY_CODEC_OK || size == 0) return in.failed;
  size_t parts[4] = {0};
  bool with_stack = false;
  const uint8_t first = bytes[in.at++];
  if (first == ENVELOPE_SUCCESS)
    codec_read_value(&in, &parts[0]);
  else if (first == ENVELOPE_ERROR)
    read_error(&in, parts, &with_stack);
  else
    codec_refuse(&in, CLEARWAY_CODEC_MALFORMED, 0);
  const clearway_codec_result answer = codec_finish(&in);
  if (answer.code != CLEARWAY_CODEC_OK) return answer;
  if (first == ENVELOPE_SUCCESS) {
    *envelope = (clearway_envelope){.kind = CLEARWAY_ENVELOPE_SUCCESS, .value = values->at + parts[0]};
    return answer;
  }
  *envelope = (clearway_envelope){.kind = CLEARWAY_ENVELOPE_ERROR,
                            .code = values->at + parts[0],
                            .message = values->at + parts[1],
                            .details = values->at + parts[2],
                            .stack = with_stack ? values->at + parts[3] : NULL};
  return answer;
}
