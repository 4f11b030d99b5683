// SPDX-License-Identifier: MIT OR Apache-2.0
#include <math.h>
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
