// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads texts and numbers of JSON.
#include <string.h>

#include "decimal.h"
#include "read_json.h"

// What is no JSON in UTF-8. The error does not say where.
static const clearway_codec_result malformed = {.code = CLEARWAY_CODEC_MALFORMED};

// Reads the four hex digits at `at`, and sets `*unit` to their value. Returns false if there are none.
static bool read_unit(const json_reader *in, size_t at, uint32_t *unit) {
  *unit = 0;
  for (size_t end = at + 4; at < end; at++) {
    if (at >= in->size) return false;
    const uint8_t byte = in->bytes[at];
    const uint8_t lower = byte | 0x20;
    const bool digit = byte >= '0' && byte <= '9';
    if (!digit && !(lower >= 'a' && lower <= 'f')) return false;
    *unit = *unit << 4 | (uint32_t)(digit ? byte - '0' : lower - 'a' + 10);
  }
  return true;
}

static size_t put_utf8(uint32_t point, uint8_t *to) {
  if (point < 0x80) {
    to[0] = (uint8_t)point;
    return 1;
  }
  const size_t size = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  static const uint8_t firsts[] = {0, 0, 0xc0, 0xe0, 0xf0};
  for (size_t at = size - 1; at > 0; at--, point >>= 6) to[at] = (uint8_t)(0x80 | (point & 0x3f));
  to[0] = (uint8_t)(firsts[size] | point);
  return size;
}

// Reads the escape at the reader's position. Writes its character to `utf8` and `*utf8_size`, and the escape's length in bytes to
// `*size`.
static clearway_codec_result read_escape(const json_reader *in, uint8_t utf8[4], size_t *utf8_size, size_t *size) {
  static const char letters[] = "\"\\/bfnrt";
  static const char meanings[] = "\"\\/\b\f\n\r\t";
  if (in->at + 1 >= in->size) return malformed;
  const uint8_t letter = in->bytes[in->at + 1];
  const char *simple = memchr(letters, letter, sizeof letters - 1);
  *size = 2;
  if (simple != NULL) {
    utf8[0] = (uint8_t)meanings[simple - letters];
    *utf8_size = 1;
    return done;
  }
  uint32_t point;
  if (letter != 'u' || !read_unit(in, in->at + 2, &point)) return malformed;
  *size = 6;
  if (point >= 0xd800 && point <= 0xdfff) {
    // UTF-8 cannot represent half of a surrogate pair.
    uint32_t low;
    const size_t at = in->at + 6;
    const bool pair = point < 0xdc00 && at + 1 < in->size && in->bytes[at] == '\\' && in->bytes[at + 1] == 'u' &&
                      read_unit(in, at + 2, &low) && low >= 0xdc00 && low <= 0xdfff;
    if (!pair) return malformed;
    point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
    *size = 12;
  }
  *utf8_size = put_utf8(point, utf8);
  return done;
}

static bool keep(clearway_values *values, const uint8_t *bytes, size_t size) {
  if (size == 0) return true;
  if (size > values->text_capacity - values->text_used) return false;
  memcpy(values->text + values->text_used, bytes, size);
  values->text_used += size;
  return true;
}

clearway_codec_result codec_json_read_text(json_reader *in, clearway_value *text) {
  clearway_values *values = in->values;
  const size_t kept = values->text_used;
  bool escaped = false;
  // The position of the first byte that was not copied yet.
  size_t from = ++in->at;
  for (;;) {
    while (in->at < in->size && in->bytes[in->at] >= 0x20 && in->bytes[in->at] != '"' && in->bytes[in->at] != '\\') in->at++;
    if (codec_utf8_valid_until(in->bytes, from, in->at) != in->at) return malformed;
    if (in->at == in->size || in->bytes[in->at] < 0x20) return malformed;
    if (in->bytes[in->at] == '"') break;
    uint8_t utf8[4];
    size_t utf8_size = 0;
    size_t size;
    const clearway_codec_result answer = read_escape(in, utf8, &utf8_size, &size);
    if (answer.code != CLEARWAY_CODEC_OK) return answer;
    if (!keep(values, in->bytes + from, in->at - from) || !keep(values, utf8, utf8_size))
      return result(CLEARWAY_CODEC_NO_ROOM, 0);
    escaped = true;
    in->at += size;
    from = in->at;
  }
  if (escaped && !keep(values, in->bytes + from, in->at - from)) return result(CLEARWAY_CODEC_NO_ROOM, 0);
  text->as.bytes = escaped ? values->text + kept : in->bytes + from;
  text->count = escaped ? values->text_used - kept : in->at - from;
  in->at++;
  return done;
}

static bool digits(json_reader *in) {
  const size_t from = in->at;
  while (in->at < in->size && in->bytes[in->at] >= '0' && in->bytes[in->at] <= '9') in->at++;
  return in->at > from;
}

static bool next_is(json_reader *in, char a, char b) {
  if (in->at == in->size || (in->bytes[in->at] != (uint8_t)a && in->bytes[in->at] != (uint8_t)b)) return false;
  in->at++;
  return true;
}

clearway_codec_result codec_json_read_number(json_reader *in, clearway_value *number) {
  const size_t from = in->at;
  next_is(in, '-', '-');
  // No digit may follow a leading zero.
  bool whole = next_is(in, '0', '0') || digits(in);
  if (whole && next_is(in, '.', '.')) whole = digits(in);
  if (whole && next_is(in, 'e', 'E')) {
    next_is(in, '+', '-');
    whole = digits(in);
  }
  if (!whole) return malformed;
  const double value = codec_decimal_read(in->bytes + from, in->at - from);
  // Beyond 2^53 - 1, one float64 represents several integers, so such a number stays a float64. Minus zero is not an integer.
  if (value >= -9007199254740991.0 && value <= 9007199254740991.0 && value == (double)(int64_t)value &&
      !(value == 0 && in->bytes[from] == '-'))
    *number = (clearway_value){.kind = CLEARWAY_KIND_INTEGER, .as.integer = (int64_t)value};
  else
    *number = (clearway_value){.kind = CLEARWAY_KIND_FLOAT64, .as.float64 = value};
  return done;
}
