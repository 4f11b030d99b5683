// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads JSON, as messages and as the envelopes of the JSON method codec. A call is {"method": …, "args": …}. A success is [value]. An error is
// [code, message, details] or [code, message, details, stack].

#include <string.h>

#include "decimal.h"
#include "wire.h"

/** A position in a JSON message, and the first error. */
typedef struct json_reader {
  const uint8_t *bytes;
  size_t size;
  size_t at;
  uint32_t depth_max;
  clearway_values *values;
  clearway_codec_result failed;
} json_reader;

static inline bool codec_json_is_space(uint8_t byte) { return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r'; }

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

/** Reads a text in quotes. A text without escapes points into the message. A text with escapes is copied to `values->text`. */
static clearway_codec_result codec_json_read_text(json_reader *in, clearway_value *text) {
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

/** Reads a number. It becomes an integer if it is whole and exact, else a float64. */
static clearway_codec_result codec_json_read_number(json_reader *in, clearway_value *number) {
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

// The input that the reader expects next.
typedef enum wanted { A_VALUE, VALUE_OR_END, KEY_OR_END, A_KEY, COLON, COMMA_OR_END, NOTHING } wanted;

static bool refuse(json_reader *in, clearway_codec_code code) {
  in->failed = result(code, 0);
  return false;
}

static clearway_value *add(json_reader *in, clearway_value value) {
  clearway_value *added = clearway_add(in->values, value);
  if (added == NULL) refuse(in, CLEARWAY_CODEC_NO_ROOM);
  return added;
}

static bool read_word(json_reader *in) {
  static const struct {
    const char *letters;
    clearway_value value;
  } words[] = {{"null", {.kind = CLEARWAY_KIND_NULL}},
               {"true", {.kind = CLEARWAY_KIND_BOOL, .as.boolean = true}},
               {"false", {.kind = CLEARWAY_KIND_BOOL, .as.boolean = false}}};
  for (size_t each = 0; each < 3; each++) {
    const char *letter = words[each].letters;
    if (in->bytes[in->at] != (uint8_t)*letter) continue;
    for (; *letter != 0; letter++, in->at++) {
      if (in->at == in->size || in->bytes[in->at] != (uint8_t)*letter) return refuse(in, CLEARWAY_CODEC_MALFORMED);
    }
    return add(in, words[each].value) != NULL;
  }
  return refuse(in, CLEARWAY_CODEC_MALFORMED);
}

static bool read_text(json_reader *in) {
  clearway_value text = {.kind = CLEARWAY_KIND_TEXT};
  in->failed = codec_json_read_text(in, &text);
  return in->failed.code == CLEARWAY_CODEC_OK && add(in, text) != NULL;
}

static bool read_number(json_reader *in) {
  clearway_value number = {.kind = CLEARWAY_KIND_NULL};
  in->failed = codec_json_read_number(in, &number);
  return in->failed.code == CLEARWAY_CODEC_OK && add(in, number) != NULL;
}

static bool read_scalar(json_reader *in) {
  const uint8_t byte = in->bytes[in->at];
  if (byte == '"') return read_text(in);
  return byte == '-' || (byte >= '0' && byte <= '9') ? read_number(in) : read_word(in);
}

// The innermost list or map that is being read. Each open list stores the index of the list around it in its own value. So the
// reader needs no recursion, and no message can exhaust the stack.
typedef struct nest {
  uint32_t depth;
  uint32_t parent;
} nest;

static bool enter(json_reader *in, nest *open, clearway_kind kind) {
  if (open->depth >= in->depth_max) return refuse(in, CLEARWAY_CODEC_TOO_DEEP);
  clearway_value *list = add(in, (clearway_value){.kind = kind, .as.open.parent = open->parent});
  if (list == NULL) return false;
  in->at++;
  open->depth++;
  open->parent = (uint32_t)(list - in->values->at);
  return true;
}

static void leave(json_reader *in, nest *open) {
  clearway_value *list = in->values->at + open->parent;
  open->parent = list->as.open.parent;
  open->depth--;
  list->nodes = (uint32_t)(in->values->used - (size_t)(list - in->values->at));
  list->as.bytes = NULL;
  in->at++;
}

// Counts a complete value in the list or map around it, and returns the input that the reader expects next.
static wanted after_value(json_reader *in, const nest *open) {
  if (open->depth == 0) return NOTHING;
  in->values->at[open->parent].count++;
  return COMMA_OR_END;
}

/** Reads one value, which must be the whole message. Returns false if the reader has failed. */
static bool codec_json_read_value(json_reader *in) {
  nest open = {0};
  wanted next = A_VALUE;
  for (;;) {
    while (in->at < in->size && codec_json_is_space(in->bytes[in->at])) in->at++;
    if (next == NOTHING) return in->at == in->size || refuse(in, CLEARWAY_CODEC_MALFORMED);
    if (in->at == in->size) return refuse(in, CLEARWAY_CODEC_MALFORMED);
    const uint8_t byte = in->bytes[in->at];
    const bool in_map = open.depth > 0 && in->values->at[open.parent].kind == CLEARWAY_KIND_MAP;
    const bool may_end = next == VALUE_OR_END || next == KEY_OR_END || next == COMMA_OR_END;
    if (may_end && byte == (in_map ? '}' : ']')) {
      leave(in, &open);
      next = after_value(in, &open);
    } else if (next == COLON || next == COMMA_OR_END) {
      if (byte != (next == COLON ? ':' : ',')) return refuse(in, CLEARWAY_CODEC_MALFORMED);
      in->at++;
      next = next == COMMA_OR_END && in_map ? A_KEY : A_VALUE;
    } else if (next == A_KEY || next == KEY_OR_END) {
      if (byte != '"') return refuse(in, CLEARWAY_CODEC_MALFORMED);
      if (!read_text(in)) return false;
      next = COLON;
    } else if (byte == '[' || byte == '{') {
      if (!enter(in, &open, byte == '[' ? CLEARWAY_KIND_LIST : CLEARWAY_KIND_MAP)) return false;
      next = byte == '[' ? VALUE_OR_END : KEY_OR_END;
    } else {
      if (!read_scalar(in)) return false;
      next = after_value(in, &open);
    }
  }
}

/** Reads a message with the given maximum depth. Sets `*value` to the value, or to null after an error. */
static clearway_codec_result codec_json_read(const uint8_t *bytes, size_t size, uint32_t depth_max, clearway_values *values,
                                const clearway_value **value) {
  json_reader in = {.bytes = bytes, .size = size, .depth_max = depth_max, .values = values, .failed = done};
  const size_t index = values->used;
  *value = codec_json_read_value(&in) ? values->at + index : NULL;
  return in.failed;
}

clearway_codec_result clearway_read_json(const uint8_t *bytes, size_t size, const clearway_codec_limits *limits,
                                         clearway_values *values, const clearway_value **value) {
  if (limits == NULL) limits = &clearway_codec_default_limits;
  return codec_json_read(bytes, size, limits->depth_max, values, value);
}

// Returns the maximum depth for a message with its envelope. The envelope is one level that the limit does not count.
static uint32_t depth_with_envelope(const clearway_codec_limits *limits) {
  const uint32_t depth_max = (limits == NULL ? &clearway_codec_default_limits : limits)->depth_max;
  return depth_max == UINT32_MAX ? depth_max : depth_max + 1;
}

clearway_codec_result clearway_read_json_call(const uint8_t *bytes, size_t size, const clearway_codec_limits *limits,
                                              clearway_values *values, clearway_method_call *call) {
  const clearway_value *envelope;
  *call = (clearway_method_call){0};
  const clearway_codec_result answer = codec_json_read(bytes, size, depth_with_envelope(limits), values, &envelope);
  if (answer.code != CLEARWAY_CODEC_OK) return answer;
  const clearway_value *method = clearway_find(envelope, "method");
  const clearway_value *arguments = clearway_find(envelope, "args");
  if (method == NULL || method->kind != CLEARWAY_KIND_TEXT) return result(CLEARWAY_CODEC_MALFORMED, 0);
  *call = (clearway_method_call){.method = method, .arguments = arguments == NULL ? &null_value : arguments};
  return done;
}

clearway_codec_result clearway_read_json_envelope(const uint8_t *bytes, size_t size, const clearway_codec_limits *limits,
                                               clearway_values *values, clearway_envelope *envelope) {
  *envelope = (clearway_envelope){.kind = CLEARWAY_ENVELOPE_NONE};
  if (size == 0) return done;
  const clearway_value *whole;
  const clearway_codec_result answer = codec_json_read(bytes, size, depth_with_envelope(limits), values, &whole);
  if (answer.code != CLEARWAY_CODEC_OK) return answer;
  if (whole->kind != CLEARWAY_KIND_LIST) return malformed;
  const clearway_value *parts[4];
  if (whole->count < 1 || whole->count == 2 || whole->count > 4) return malformed;
  for (size_t at = 0; at < whole->count; at++) parts[at] = clearway_element(whole, at);
  if (whole->count == 1) {
    *envelope = (clearway_envelope){.kind = CLEARWAY_ENVELOPE_SUCCESS, .value = parts[0]};
    return done;
  }
  const clearway_value *stack = whole->count == 4 ? parts[3] : NULL;
  if (parts[0]->kind != CLEARWAY_KIND_TEXT || !is_text_or_null(parts[1]) || !is_text_or_null(stack)) return malformed;
  *envelope = (clearway_envelope){
      .kind = CLEARWAY_ENVELOPE_ERROR, .code = parts[0], .message = parts[1], .details = parts[2], .stack = stack};
  return done;
}
