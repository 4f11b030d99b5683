// SPDX-License-Identifier: MIT OR Apache-2.0
// Functions that make values, functions that search them, and the check of UTF-8.

#include <string.h>

#include "wire.h"

const clearway_codec_limits clearway_codec_default_limits = {.depth_max = 128, .items_max = 1u << 24};

const char *clearway_codec_code_name(clearway_codec_code code) {
  static const char *const names[] = {"ok",       "truncated", "trailing-bytes", "unknown-tag",      "bad-utf8", "malformed",
                                      "too-deep", "too-large", "not-encodable",  "unsupported-host", "no-room"};
  return (unsigned)code < sizeof names / sizeof *names ? names[code] : "unknown";
}

bool codec_is_hex_integer(const uint8_t *digits, size_t size) {
  size_t at = size > 0 && digits[0] == '-';
  if (at == size) return false;
  for (; at < size; at++) {
    const uint8_t digit = digits[at] | 0x20;
    if (!((digits[at] >= '0' && digits[at] <= '9') || (digit >= 'a' && digit <= 'f'))) return false;
  }
  return true;
}

clearway_value *clearway_add(clearway_values *values, clearway_value value) {
  if (values->used >= values->capacity || values->used >= UINT32_MAX) return NULL;
  clearway_value *added = values->at + values->used++;
  *added = value;
  added->nodes = 1;
  return added;
}

clearway_value *clearway_add_null(clearway_values *values) {
  return clearway_add(values, (clearway_value){.kind = CLEARWAY_KIND_NULL});
}

clearway_value *clearway_add_bool(clearway_values *values, bool boolean) {
  return clearway_add(values, (clearway_value){.kind = CLEARWAY_KIND_BOOL, .as.boolean = boolean});
}

clearway_value *clearway_add_integer(clearway_values *values, int64_t integer) {
  return clearway_add(values, (clearway_value){.kind = CLEARWAY_KIND_INTEGER, .as.integer = integer});
}

clearway_value *clearway_add_float64(clearway_values *values, double float64) {
  return clearway_add(values, (clearway_value){.kind = CLEARWAY_KIND_FLOAT64, .as.float64 = float64});
}

clearway_value *clearway_add_text(clearway_values *values, const char *text, size_t size) {
  return clearway_add(values, (clearway_value){.kind = CLEARWAY_KIND_TEXT, .count = size, .as.bytes = (const uint8_t *)text});
}

clearway_value *clearway_add_numbers(clearway_values *values, clearway_kind kind, const void *elements, size_t count) {
  return clearway_add(values, (clearway_value){.kind = kind, .count = count, .as.bytes = elements});
}

clearway_value *clearway_begin(clearway_values *values, clearway_kind kind) {
  return clearway_add(values, (clearway_value){.kind = kind});
}

bool clearway_end(clearway_values *values, clearway_value *open) {
  const clearway_value *end = values->at + values->used;
  size_t count = 0;
  for (const clearway_value *each = open + 1; each < end; each += each->nodes) count++;
  if (open->kind == CLEARWAY_KIND_MAP && count % 2 != 0) return false;
  open->count = open->kind == CLEARWAY_KIND_MAP ? count / 2 : count;
  open->nodes = (uint32_t)(end - open);
  return true;
}

bool clearway_text_is(const clearway_value *value, const char *text) {
  const size_t size = strlen(text);
  return value != NULL && value->kind == CLEARWAY_KIND_TEXT && value->count == size &&
         (size == 0 || memcmp(value->as.bytes, text, size) == 0);
}

const clearway_value *clearway_find(const clearway_value *map, const char *key) {
  if (map == NULL || map->kind != CLEARWAY_KIND_MAP) return NULL;
  const clearway_value *found = NULL;
  const clearway_value *each = map + 1;
  for (size_t entry = 0; entry < map->count; entry++) {
    const clearway_value *value = each + each->nodes;
    if (clearway_text_is(each, key)) found = value;
    each = value + value->nodes;
  }
  return found;
}

const clearway_value *clearway_element(const clearway_value *list, size_t index) {
  if (list == NULL || list->kind != CLEARWAY_KIND_LIST || index >= list->count) return NULL;
  const clearway_value *each = list + 1;
  for (size_t before = 0; before < index; before++) each += each->nodes;
  return each;
}

// Returns the size of the UTF-8 sequence at `bytes`, or 0 if it is ill-formed. Follows Unicode 16, table 3-7: overlong forms,
// surrogates and values beyond U+10FFFF are ill-formed.
static size_t sequence(const uint8_t *bytes, size_t left) {
  const uint8_t first = bytes[0];
  if (first < 0x80) return 1;
  const size_t size = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (size == 0 || size > left) return 0;
  const uint8_t min = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const uint8_t max = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (bytes[1] < min || bytes[1] > max) return 0;
  for (size_t next = 2; next < size; next++)
    if (bytes[next] < 0x80 || bytes[next] > 0xbf) return 0;
  return size;
}

size_t codec_utf8_valid_until(const uint8_t *bytes, size_t start, size_t end) {
  size_t at = start;
  while (at < end) {
    // Skips eight bytes of ASCII at a time, because most text is ASCII.
    uint64_t eight;
    if (end - at >= sizeof eight) {
      memcpy(&eight, bytes + at, sizeof eight);
      if ((eight & 0x8080808080808080u) == 0) {
        at += sizeof eight;
        continue;
      }
    }
    const size_t size = sequence(bytes + at, end - at);
    if (size == 0) return at;
    at += size;
  }
  return end;
}

clearway_codec_result clearway_check_text(const uint8_t *bytes, size_t size) {
  const size_t valid = codec_utf8_valid_until(bytes, 0, size);
  return valid == size ? done : result(CLEARWAY_CODEC_BAD_UTF8, valid);
}
