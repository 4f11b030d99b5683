// SPDX-License-Identifier: MIT OR Apache-2.0
#include "value.h"

#include <stdlib.h>
#include <string.h>

enum {
  TAG_NULL,
  TAG_FALSE,
  TAG_TRUE,
  TAG_INT,
  TAG_FLOAT,
  TAG_TEXT,
  TAG_UINT8,
  TAG_INT32,
  TAG_INT64,
  TAG_FLOAT32,
  TAG_FLOAT64,
  TAG_LIST,
  TAG_MAP,
};

/** The engine and this file recurse once a level. The random cases have 132 levels at most. */
static const int depth_max = 500;

static const char *bad_frame = "the request is not a value";

/** Copies the elements of a list, because those of a frame are not aligned. The caller frees the copy. */
static void *elements(reader *from, size_t size, size_t *count) {
  *count = read_u32(from);
  const uint8_t *bytes = read_bytes(from, *count * size);
  // The engine copies from this memory also if there are no elements, and a null pointer would not be valid for that.
  void *copy = bytes == NULL ? NULL : malloc(*count * size + 1);
  if (copy != NULL && *count > 0) memcpy(copy, bytes, *count * size);
  return copy;
}

static FlValue *read_list_of_numbers(reader *from, uint8_t tag) {
  static const size_t sizes[] = {1, 4, 8, 4, 8};
  size_t count = 0;
  void *copy = elements(from, sizes[tag - TAG_UINT8], &count);
  if (copy == NULL) return NULL;
  FlValue *made = tag == TAG_UINT8     ? fl_value_new_uint8_list(copy, count)
                  : tag == TAG_INT32   ? fl_value_new_int32_list(copy, count)
                  : tag == TAG_INT64   ? fl_value_new_int64_list(copy, count)
                  : tag == TAG_FLOAT32 ? fl_value_new_float32_list(copy, count)
                                       : fl_value_new_float_list(copy, count);
  free(copy);
  return made;
}

static FlValue *read_nested(reader *from, const char **problem, int depth);

static FlValue *read_collection(reader *from, uint8_t tag, const char **problem, int depth) {
  const uint32_t count = read_u32(from);
  FlValue *made = tag == TAG_LIST ? fl_value_new_list() : fl_value_new_map();
  for (uint32_t at = 0; at < count; at++) {
    FlValue *first = read_nested(from, problem, depth + 1);
    FlValue *second = first != NULL && tag == TAG_MAP ? read_nested(from, problem, depth + 1) : NULL;
    if (first == NULL || (tag == TAG_MAP && second == NULL)) {
      if (first != NULL) fl_value_unref(first);
      fl_value_unref(made);
      return NULL;
    }
    if (tag == TAG_LIST) fl_value_append_take(made, first);
    else fl_value_set_take(made, first, second);
  }
  return made;
}

static FlValue *read_nested(reader *from, const char **problem, int depth) {
  const uint8_t tag = read_u8(from);
  *problem = bad_frame;
  if (from->bad || depth > depth_max) return NULL;
  if (tag == TAG_NULL) return fl_value_new_null();
  if (tag == TAG_FALSE || tag == TAG_TRUE) return fl_value_new_bool(tag == TAG_TRUE);
  if (tag == TAG_INT || tag == TAG_FLOAT) {
    const uint8_t *bytes = read_bytes(from, 8);
    if (bytes == NULL) return NULL;
    int64_t whole;
    double fraction;
    memcpy(&whole, bytes, 8);
    memcpy(&fraction, bytes, 8);
    return tag == TAG_INT ? fl_value_new_int(whole) : fl_value_new_float(fraction);
  }
  if (tag == TAG_TEXT) {
    const uint32_t size = read_u32(from);
    const char *bytes = (const char *)read_bytes(from, size);
    if (bytes == NULL) return NULL;
    if (memchr(bytes, 0, size) != NULL) {
      *problem = "a text has a NUL, and the engine's texts end at the first NUL";
      return NULL;
    }
    return fl_value_new_string_sized(bytes, size);
  }
  if (tag >= TAG_UINT8 && tag <= TAG_FLOAT64) return read_list_of_numbers(from, tag);
  if (tag == TAG_LIST || tag == TAG_MAP) return read_collection(from, tag, problem, depth);
  return NULL;
}

FlValue *read_value(reader *from, const char **problem) { return read_nested(from, problem, 0); }

static void write_list(writer *to, uint8_t tag, const void *at, size_t count, size_t size) {
  write_u8(to, tag);
  write_u32(to, (uint32_t)count);
  write_bytes(to, at, count * size);
}

bool write_value(writer *to, FlValue *value) {
  switch (fl_value_get_type(value)) {
    case FL_NULL: write_u8(to, TAG_NULL); return true;
    case FL_BOOL: write_u8(to, fl_value_get_bool(value) ? TAG_TRUE : TAG_FALSE); return true;
    case FL_INT: {
      const int64_t whole = fl_value_get_int(value);
      write_u8(to, TAG_INT);
      write_bytes(to, &whole, sizeof whole);
      return true;
    }
    case FL_FLOAT: write_u8(to, TAG_FLOAT); write_f64(to, fl_value_get_float(value)); return true;
    case FL_STRING: write_u8(to, TAG_TEXT); write_text(to, fl_value_get_string(value)); return true;
    case FL_UINT8_LIST: write_list(to, TAG_UINT8, fl_value_get_uint8_list(value), fl_value_get_length(value), 1); return true;
    case FL_INT32_LIST: write_list(to, TAG_INT32, fl_value_get_int32_list(value), fl_value_get_length(value), 4); return true;
    case FL_INT64_LIST: write_list(to, TAG_INT64, fl_value_get_int64_list(value), fl_value_get_length(value), 8); return true;
    case FL_FLOAT32_LIST: write_list(to, TAG_FLOAT32, fl_value_get_float32_list(value), fl_value_get_length(value), 4); return true;
    case FL_FLOAT_LIST: write_list(to, TAG_FLOAT64, fl_value_get_float_list(value), fl_value_get_length(value), 8); return true;
    case FL_LIST:
    case FL_MAP: break;
    default: return false;
  }
  const bool map = fl_value_get_type(value) == FL_MAP;
  const size_t count = fl_value_get_length(value);
  write_u8(to, map ? TAG_MAP : TAG_LIST);
  write_u32(to, (uint32_t)count);
  for (size_t at = 0; at < count; at++) {
    if (map && !write_value(to, fl_value_get_map_key(value, at))) return false;
    if (!write_value(to, map ? fl_value_get_map_value(value, at) : fl_value_get_list_value(value, at))) return false;
  }
  return true;
}
