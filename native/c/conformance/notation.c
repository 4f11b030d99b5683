// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads and writes the notation of values in JSON.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance.h"

static bool read_float(const clearway_value *notation, double *value) {
  if (notation->kind == CLEARWAY_KIND_INTEGER)
    *value = (double)notation->as.integer;
  else if (notation->kind == CLEARWAY_KIND_FLOAT64)
    *value = notation->as.float64;
  else if (clearway_text_is(notation, "NaN"))
    *value = (double)NAN;
  else if (clearway_text_is(notation, "Infinity") || clearway_text_is(notation, "-Infinity"))
    *value = notation->count == 9 ? -(double)INFINITY : (double)INFINITY;
  else if (clearway_text_is(notation, "-0"))
    *value = -0.0;
  else
    return false;
  return true;
}

static bool read_integer(const clearway_value *notation, clearway_value *value) {
  *value = *notation;
  if (notation->kind == CLEARWAY_KIND_INTEGER) return true;
  return notation->kind == CLEARWAY_KIND_TEXT && integer_read(notation->as.bytes, notation->count, value);
}

static bool read_element(clearway_kind kind, const clearway_value *notation, uint8_t *to) {
  clearway_value integer;
  double wide;
  if (kind == CLEARWAY_KIND_INT64_LIST) {
    if (!read_integer(notation, &integer)) return false;
    const int64_t bits = integer_lower_half(integer);
    memcpy(to, &bits, sizeof bits);
    return true;
  }
  if (!read_float(notation, &wide)) return false;
  const int32_t narrow = kind == CLEARWAY_KIND_INT32_LIST ? (int32_t)wide : 0;
  const float single = (float)wide;
  if (kind == CLEARWAY_KIND_UINT8_LIST)
    *to = (uint8_t)wide;
  else if (kind == CLEARWAY_KIND_INT32_LIST)
    memcpy(to, &narrow, sizeof narrow);
  else if (kind == CLEARWAY_KIND_FLOAT32_LIST)
    memcpy(to, &single, sizeof single);
  else
    memcpy(to, &wide, sizeof wide);
  return true;
}

static bool read_numbers(clearway_values *to, clearway_kind kind, size_t width, const clearway_value *elements) {
  if (elements->kind != CLEARWAY_KIND_LIST) return false;
  uint8_t *bytes = pool_take(elements->count * width);
  const clearway_value *each = elements + 1;
  for (size_t at = 0; at < elements->count; at++, each++)
    if (!read_element(kind, each, bytes + at * width)) return false;
  return clearway_add_numbers(to, kind, bytes, elements->count) != NULL;
}

static bool read_entries(clearway_values *to, const clearway_value *entries, bool plain) {
  clearway_value *map = clearway_begin(to, CLEARWAY_KIND_MAP);
  if (map == NULL || entries->kind != CLEARWAY_KIND_LIST) return false;
  const clearway_value *each = entries + 1;
  for (size_t at = 0; at < entries->count; at++, each += each->nodes) {
    if (each->kind != CLEARWAY_KIND_LIST || each->count != 2) return false;
    const clearway_value *key = each + 1;
    if (!notation_read(to, key, plain) || !notation_read(to, key + key->nodes, plain)) return false;
  }
  return clearway_end(to, map);
}

// Reads a list of notations, or an object that is not a form: its keys and its values.
static bool read_inside(clearway_values *to, const clearway_value *notation, bool plain) {
  clearway_value *list = clearway_begin(to, notation->kind);
  if (list == NULL) return false;
  for (const clearway_value *each = notation + 1; each < notation + notation->nodes; each += each->nodes)
    if (!notation_read(to, each, plain)) return false;
  return clearway_end(to, list);
}

static bool add_integer(clearway_values *to, clearway_value integer, bool plain) {
  const int64_t exact = ((int64_t)1 << 53) - 1;
  if (plain && (integer.kind != CLEARWAY_KIND_INTEGER || integer.as.integer > exact || integer.as.integer < -exact))
    return clearway_add_float64(to, integer_as_float64(integer)) != NULL;
  return clearway_add(to, integer) != NULL;
}

static bool read_form(clearway_values *to, const clearway_value *notation, bool plain) {
  static const struct {
    const char *form;
    clearway_kind kind;
    size_t width;
  } lists[] = {{"uint8", CLEARWAY_KIND_UINT8_LIST, 1},
               {"int32", CLEARWAY_KIND_INT32_LIST, 4},
               {"float32", CLEARWAY_KIND_FLOAT32_LIST, 4},
               {"float64list", CLEARWAY_KIND_FLOAT64_LIST, 8},
               {"int64list", CLEARWAY_KIND_INT64_LIST, 8}};
  const clearway_value *form = notation + 1;
  const clearway_value *parts = form + 1;
  if (notation->count != 1) return read_inside(to, notation, plain);
  for (size_t at = 0; at < sizeof lists / sizeof *lists; at++)
    if (clearway_text_is(form, lists[at].form)) return read_numbers(to, lists[at].kind, lists[at].width, parts);
  if (clearway_text_is(form, "int64") || clearway_text_is(form, "bigint")) {
    clearway_value integer;
    return read_integer(parts, &integer) && add_integer(to, integer, plain);
  }
  if (clearway_text_is(form, "float64")) {
    double value;
    return read_float(parts, &value) && clearway_add_float64(to, value) != NULL;
  }
  if (clearway_text_is(form, "uint8len")) {
    // The limit of 64 MiB is larger than every test vector, and keeps an invalid case from filling the memory.
    if (parts->kind != CLEARWAY_KIND_INTEGER || parts->as.integer < 0 || parts->as.integer > 1 << 26) return false;
    const size_t count = (size_t)parts->as.integer;
    return clearway_add_numbers(to, CLEARWAY_KIND_UINT8_LIST, pool_take(count), count) != NULL;
  }
  return clearway_text_is(form, "map") ? read_entries(to, parts, plain) : read_inside(to, notation, plain);
}

bool notation_read(clearway_values *to, const clearway_value *notation, bool plain) {
  if (notation->kind == CLEARWAY_KIND_LIST) return read_inside(to, notation, plain);
  if (notation->kind == CLEARWAY_KIND_MAP) return read_form(to, notation, plain);
  return clearway_add(to, *notation) != NULL;
}

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
