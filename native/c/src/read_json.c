// SPDX-License-Identifier: MIT OR Apache-2.0
#include "read_json.h"

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

bool codec_json_read_value(json_reader *in) {
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

clearway_codec_result codec_json_read(const uint8_t *bytes, size_t size, uint32_t depth_max, clearway_values *values,
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
