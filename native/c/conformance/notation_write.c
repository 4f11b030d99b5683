// SPDX-License-Identifier: MIT OR Apache-2.0
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance.h"

static void room(notation_text *out, size_t more) {
  if (more <= out->capacity - out->size) return;
  const size_t capacity = (out->size + more) * 2;
  char *chars = realloc(out->chars, capacity);
  if (chars == NULL) {
    fprintf(stderr, "conformance: no memory for an answer of %zu bytes\n", capacity);
    exit(1);
  }
  out->chars = chars;
  out->capacity = capacity;
}

void notation_put(notation_text *out, const char *chars, size_t size) {
  room(out, size);
  if (size > 0) memcpy(out->chars + out->size, chars, size);
  out->size += size;
}

void notation_put_string(notation_text *out, const char *chars) { notation_put(out, chars, strlen(chars)); }

void notation_put_json(notation_text *out, const clearway_value *value) {
  clearway_message message = {0};
  clearway_write_json(&message, NULL, value);
  room(out, message.size);
  message = (clearway_message){.bytes = (uint8_t *)out->chars + out->size, .capacity = message.size};
  clearway_write_json(&message, NULL, value);
  out->size += message.size;
}

static void put_integer(notation_text *out, int64_t integer) {
  char text[24];
  snprintf(text, sizeof text, "%lld", (long long)integer);
  notation_put_string(out, text);
}

// Writes a float64. JSON has no NaN and no infinities, and JSON.stringify loses minus zero, so these are written as text.
static void put_float(notation_text *out, double value) {
  if (isnan(value))
    notation_put_string(out, "\"NaN\"");
  else if (isinf(value))
    notation_put_string(out, value < 0 ? "\"-Infinity\"" : "\"Infinity\"");
  else if (value == 0 && signbit(value))
    notation_put_string(out, "\"-0\"");
  else
    notation_put_json(out, &(clearway_value){.kind = CLEARWAY_KIND_FLOAT64, .nodes = 1, .as.float64 = value});
}

// Writes the notation of an INTEGER or BIG_INTEGER. The form depends only on the value, not on the kind.
static void put_any_integer(notation_text *out, clearway_value value) {
  value = integer_narrowed(value);
  if (value.kind == CLEARWAY_KIND_BIG_INTEGER) {
    const size_t sign = value.as.bytes[0] == '-';
    notation_put_string(out, sign ? "{\"bigint\":\"-0x" : "{\"bigint\":\"0x");
    notation_put(out, (const char *)value.as.bytes + sign, value.count - sign);
    notation_put_string(out, "\"}");
    return;
  }
  const int64_t exact = ((int64_t)1 << 53) - 1;
  const bool safe = value.as.integer >= -exact && value.as.integer <= exact;
  if (!safe) notation_put_string(out, "{\"int64\":\"");
  put_integer(out, value.as.integer);
  if (!safe) notation_put_string(out, "\"}");
}

static void put_element(notation_text *out, clearway_kind kind, const uint8_t *bytes, size_t at) {
  int32_t narrow;
  int64_t integer;
  float single;
  double wide;
  switch (kind) {
    case CLEARWAY_KIND_INT32_LIST:
      memcpy(&narrow, bytes + at * 4, sizeof narrow);
      put_integer(out, narrow);
      break;
    case CLEARWAY_KIND_INT64_LIST:
      memcpy(&integer, bytes + at * 8, sizeof integer);
      notation_put_string(out, "\"");
      put_integer(out, integer);
      notation_put_string(out, "\"");
      break;
    case CLEARWAY_KIND_FLOAT32_LIST:
      memcpy(&single, bytes + at * 4, sizeof single);
      put_float(out, (double)single);
      break;
    case CLEARWAY_KIND_FLOAT64_LIST:
      memcpy(&wide, bytes + at * 8, sizeof wide);
      put_float(out, wide);
      break;
    default:
      put_integer(out, bytes[at]);
      break;
  }
}

static void put_numbers(notation_text *out, const clearway_value *value) {
  static const char *const forms[] = {"uint8", "int32", "int64list", "float64list", "float32"};
  notation_put_string(out, "{\"");
  notation_put_string(out, forms[value->kind - CLEARWAY_KIND_UINT8_LIST]);
  notation_put_string(out, "\":[");
  for (size_t at = 0; at < value->count; at++) {
    if (at > 0) notation_put_string(out, ",");
    put_element(out, value->kind, value->as.bytes, at);
  }
  notation_put_string(out, "]}");
}

static bool same_key(const clearway_value *one, const clearway_value *other) {
  const clearway_value a = integer_narrowed(*one);
  const clearway_value b = integer_narrowed(*other);
  if (a.kind != b.kind) return false;
  if (a.kind == CLEARWAY_KIND_INTEGER) return a.as.integer == b.as.integer;
  if (a.kind == CLEARWAY_KIND_BOOL) return a.as.boolean == b.as.boolean;
  if (a.kind == CLEARWAY_KIND_TEXT || a.kind == CLEARWAY_KIND_BIG_INTEGER)
    return a.count == b.count && (a.count == 0 || memcmp(a.as.bytes, b.as.bytes, a.count) == 0);
  return a.kind == CLEARWAY_KIND_NULL;
}

// Writes a map. If a key is repeated, writes it once: at its first position, with its last value.
static void put_map(notation_text *out, const clearway_value *map) {
  const clearway_value *end = map + map->nodes;
  bool first = true;
  notation_put_string(out, "{\"map\":[");
  for (const clearway_value *key = map + 1, *value; key < end; key = value + value->nodes) {
    value = key + key->nodes;
    bool seen = false;
    for (const clearway_value *other = map + 1; other < key && !seen; other += other->nodes, other += other->nodes)
      seen = same_key(other, key);
    if (seen) continue;
    const clearway_value *last = value;
    for (const clearway_value *other = value + value->nodes; other < end;) {
      const clearway_value *its = other + other->nodes;
      if (same_key(other, key)) last = its;
      other = its + its->nodes;
    }
    notation_put_string(out, first ? "[" : ",[");
    first = false;
    notation_write(out, key);
    notation_put_string(out, ",");
    notation_write(out, last);
    notation_put_string(out, "]");
  }
  notation_put_string(out, "]}");
}

static void put_list(notation_text *out, const clearway_value *list) {
  notation_put_string(out, "[");
  for (const clearway_value *each = list + 1; each < list + list->nodes; each += each->nodes) {
    if (each > list + 1) notation_put_string(out, ",");
    notation_write(out, each);
  }
  notation_put_string(out, "]");
}

void notation_write(notation_text *out, const clearway_value *value) {
  switch (value->kind) {
    case CLEARWAY_KIND_NULL:
    case CLEARWAY_KIND_BOOL:
    case CLEARWAY_KIND_TEXT:
      notation_put_json(out, value);
      break;
    case CLEARWAY_KIND_INTEGER:
    case CLEARWAY_KIND_BIG_INTEGER:
      put_any_integer(out, *value);
      break;
    case CLEARWAY_KIND_FLOAT64:
      notation_put_string(out, "{\"float64\":");
      put_float(out, value->as.float64);
      notation_put_string(out, "}");
      break;
    case CLEARWAY_KIND_LIST:
      put_list(out, value);
      break;
    case CLEARWAY_KIND_MAP:
      put_map(out, value);
      break;
    default:
      put_numbers(out, value);
      break;
  }
}
