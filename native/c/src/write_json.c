// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes JSON as JavaScript's JSON.stringify does.
#include "decimal.h"
#include "message.h"

static void put_chars(clearway_message *message, const char *chars) { put(message, chars, strlen(chars)); }

// Writes the escape of a byte: a short escape if JSON has one, else \u00xx.
static void put_escaped(clearway_message *message, uint8_t byte) {
  static const char meant[] = "\"\\\b\f\n\r\t";
  static const char letters[] = "\"\\bfnrt";
  const char *simple = memchr(meant, byte, sizeof meant - 1);
  if (simple != NULL) {
    put_byte(message, '\\');
    put_byte(message, (uint8_t)letters[simple - meant]);
    return;
  }
  put_chars(message, "\\u00");
  put_byte(message, (uint8_t)('0' + (byte >> 4)));
  put_byte(message, (uint8_t)"0123456789abcdef"[byte & 15]);
}

static clearway_codec_result put_text(clearway_message *message, const clearway_value *text) {
  const uint8_t *bytes = text->as.bytes;
  if (codec_utf8_valid_until(bytes, 0, text->count) != text->count) return result(CLEARWAY_CODEC_NOT_ENCODABLE, 0);
  put_byte(message, '"');
  size_t from = 0;
  for (size_t at = 0; at < text->count; at++) {
    if (bytes[at] >= 0x20 && bytes[at] != '"' && bytes[at] != '\\') continue;
    put(message, bytes + from, at - from);
    put_escaped(message, bytes[at]);
    from = at + 1;
  }
  if (text->count > 0) put(message, bytes + from, text->count - from);
  put_byte(message, '"');
  return done;
}

static void put_integer(clearway_message *message, int64_t integer) {
  char text[DECIMAL_TEXT_MAX];
  put(message, text, codec_decimal_write_integer(integer, text));
}

// Writes a float64, or null for NaN and infinities.
static void put_float(clearway_message *message, double value) {
  char text[DECIMAL_TEXT_MAX];
  if (value - value != 0)
    put_chars(message, "null");
  else
    put(message, text, codec_decimal_write(value, text));
}

static void put_number(clearway_message *message, clearway_kind kind, const uint8_t *element) {
  int32_t integer;
  float narrow;
  double wide;
  switch (kind) {
    case CLEARWAY_KIND_INT32_LIST:
      memcpy(&integer, element, sizeof integer);
      put_integer(message, integer);
      break;
    case CLEARWAY_KIND_FLOAT32_LIST:
      memcpy(&narrow, element, sizeof narrow);
      put_float(message, (double)narrow);
      break;
    case CLEARWAY_KIND_FLOAT64_LIST:
      memcpy(&wide, element, sizeof wide);
      put_float(message, wide);
      break;
    default:
      put_integer(message, *element);
      break;
  }
}

// Writes a list of numbers as JSON.stringify writes a typed array: as an object whose keys are the indices. Refuses a list of
// 64-bit integers unless it is empty, because JSON.stringify refuses them, too.
static clearway_codec_result put_numbers(clearway_message *message, const clearway_value *value) {
  if (value->kind == CLEARWAY_KIND_INT64_LIST && value->count > 0) return result(CLEARWAY_CODEC_NOT_ENCODABLE, 0);
  put_byte(message, '{');
  for (size_t at = 0; at < value->count; at++) {
    put_chars(message, at == 0 ? "\"" : ",\"");
    put_integer(message, (int64_t)at);
    put_chars(message, "\":");
    put_number(message, value->kind, value->as.bytes + at * width_of(value->kind));
  }
  put_byte(message, '}');
  return done;
}

// Writes a list or a map and its contents. `depth_max` limits the recursion.
static clearway_codec_result put_inside(clearway_message *message, uint32_t depth_max, uint32_t depth,
                                        const clearway_value *value) {
  const bool map = value->kind == CLEARWAY_KIND_MAP;
  put_byte(message, map ? '{' : '[');
  size_t index = 0;
  for (const clearway_value *each = value + 1; each < value + value->nodes; each += each->nodes, index++) {
    const bool key = map && index % 2 == 0;
    if (key && each->kind != CLEARWAY_KIND_TEXT) return result(CLEARWAY_CODEC_NOT_ENCODABLE, 0);
    if (index > 0) put_byte(message, map && !key ? ':' : ',');
    const clearway_codec_result answer = codec_put_json(message, depth_max, depth + 1, each);
    if (answer.code != CLEARWAY_CODEC_OK) return answer;
  }
  put_byte(message, map ? '}' : ']');
  return done;
}

clearway_codec_result codec_put_json(clearway_message *message, uint32_t depth_max, uint32_t depth, const clearway_value *value) {
  const bool inside = value->kind == CLEARWAY_KIND_LIST || value->kind == CLEARWAY_KIND_MAP;
  if ((inside || is_number_list(value->kind)) && depth >= depth_max) return result(CLEARWAY_CODEC_TOO_DEEP, message->size);
  switch (value->kind) {
    case CLEARWAY_KIND_NULL:
      put_chars(message, "null");
      return done;
    case CLEARWAY_KIND_BOOL:
      put_chars(message, value->as.boolean ? "true" : "false");
      return done;
    case CLEARWAY_KIND_INTEGER:
      put_integer(message, value->as.integer);
      return done;
    case CLEARWAY_KIND_FLOAT64:
      put_float(message, value->as.float64);
      return done;
    case CLEARWAY_KIND_TEXT:
      return put_text(message, value);
    case CLEARWAY_KIND_LIST:
    case CLEARWAY_KIND_MAP:
      return put_inside(message, depth_max, depth, value);
    default:
      return is_number_list(value->kind) ? put_numbers(message, value) : result(CLEARWAY_CODEC_NOT_ENCODABLE, 0);
  }
}

clearway_codec_result clearway_write_json(clearway_message *message, const clearway_codec_limits *limits,
                                          const clearway_value *value) {
  const clearway_codec_result answer = codec_put_json(message, depth_max_of(limits), 0, value);
  return answer.code == CLEARWAY_CODEC_OK ? written(message) : answer;
}
