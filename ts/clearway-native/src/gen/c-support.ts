// SPDX-License-Identifier: MIT OR Apache-2.0

/** The C code that every generated header contains. It has an include guard, because one C file may include several headers. */
export const cSupport = `#ifndef CLEARWAY_GEN_SUPPORT
#define CLEARWAY_GEN_SUPPORT

// A C file may not use all of the static functions below. The attribute prevents a warning for them.
#if defined(__GNUC__) || defined(__clang__)
#define CLEARWAY_GEN_FUNCTION static inline __attribute__((unused))
#else
#define CLEARWAY_GEN_FUNCTION static inline
#endif

typedef struct clearway_bytes { const uint8_t *items; size_t count; } clearway_bytes;
typedef struct clearway_i32s { const int32_t *items; size_t count; } clearway_i32s;
typedef struct clearway_i64s { const int64_t *items; size_t count; } clearway_i64s;
typedef struct clearway_f32s { const float *items; size_t count; } clearway_f32s;
typedef struct clearway_f64s { const double *items; size_t count; } clearway_f64s;

/** The memory of decoded lists and maps. Initialise it with zeros. clearway_gen_free frees all of its memory. */
typedef struct clearway_gen_arena {
  void **blocks;
  size_t count;
} clearway_gen_arena;

/** Describes a value that does not match the schema. */
typedef struct clearway_gen_validation_issue {
  /** The type that the schema expects at the path, in words. Null if the value matches. */
  const char *expected;
  /** The path of the value in the arguments, such as ".places[3].city". It is cut off after 199 bytes. */
  char path[200];
} clearway_gen_validation_issue;

/**
 * The result of adding a value to a message. NO_ROOM means that the array of values is full. INVALID means that the value cannot be
 * encoded, such as an enum outside of its range.
 */
typedef enum clearway_gen_add_result { CLEARWAY_GEN_ADDED, CLEARWAY_GEN_NO_ROOM, CLEARWAY_GEN_INVALID } clearway_gen_add_result;

/** Frees all memory of an arena. The arena can then be used again. */
CLEARWAY_GEN_FUNCTION void clearway_gen_free(clearway_gen_arena *arena) {
  for (size_t at = 0; at < arena->count; at++) free(arena->blocks[at]);
  free(arena->blocks);
  arena->blocks = NULL;
  arena->count = 0;
}

/** Allocates uninitialised memory that the arena owns. Returns null if no memory is left. */
CLEARWAY_GEN_FUNCTION void *clearway_gen_allocate(clearway_gen_arena *arena, size_t count, size_t size) {
  if (size != 0 && count > SIZE_MAX / size) return NULL;
  void **blocks = (void **)realloc(arena->blocks, (arena->count + 1) * sizeof *blocks);
  if (blocks == NULL) return NULL;
  arena->blocks = blocks;
  void *allocated = malloc(count * size == 0 ? 1 : count * size);
  if (allocated != NULL) arena->blocks[arena->count++] = allocated;
  return allocated;
}

/** Sets the issue of a value that does not match. Returns false, so that a read function can return the result. */
CLEARWAY_GEN_FUNCTION bool clearway_gen_reject(clearway_gen_validation_issue *issue, const char *expected) {
  issue->expected = expected;
  issue->path[0] = 0;
  return false;
}

/** Cuts off a character of UTF-8 that is incomplete at the end of a text. snprintf cuts at a byte. */
CLEARWAY_GEN_FUNCTION void clearway_gen_cut_character(char *text) {
  const size_t size = strlen(text);
  size_t start = size;
  while (start > 0 && size - start < 3 && ((unsigned char)text[start - 1] & 0xc0) == 0x80) start--;
  if (start == 0) return;
  const unsigned char first = (unsigned char)text[start - 1];
  const size_t needed = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  if (size - (start - 1) < needed) text[start - 1] = 0;
}

/** Adds a step, such as ".city", to the front of the issue's path. Cuts off the end of a path that is too long. Returns false. */
CLEARWAY_GEN_FUNCTION bool clearway_gen_prefix_path(clearway_gen_validation_issue *issue, const char *step) {
  char path[sizeof issue->path];
  snprintf(path, sizeof path, "%s%s", step, issue->path);
  clearway_gen_cut_character(path);
  memcpy(issue->path, path, sizeof path);
  return false;
}

/** Adds the index of a list's item or of a map's entry to the front of the issue's path. Returns false. */
CLEARWAY_GEN_FUNCTION bool clearway_gen_prefix_index(clearway_gen_validation_issue *issue, size_t index) {
  char step[32];
  snprintf(step, sizeof step, "[%zu]", index);
  return clearway_gen_prefix_path(issue, step);
}

/** Returns whether a value is null or missing. */
CLEARWAY_GEN_FUNCTION bool clearway_gen_is_null(const clearway_value *value) {
  return value == NULL || value->kind == CLEARWAY_KIND_NULL;
}

// Each of the following functions decodes a value to *to. It returns false and sets the issue if the value has another type.

CLEARWAY_GEN_FUNCTION bool clearway_gen_read_any(const clearway_value *value, clearway_gen_arena *arena, clearway_gen_validation_issue *issue, const clearway_value **to) {
  (void)arena;
  (void)issue;
  *to = value;
  return true;
}

CLEARWAY_GEN_FUNCTION bool clearway_gen_read_bool(const clearway_value *value, clearway_gen_arena *arena, clearway_gen_validation_issue *issue, bool *to) {
  (void)arena;
  if (value == NULL || value->kind != CLEARWAY_KIND_BOOL) return clearway_gen_reject(issue, "true or false");
  *to = value->as.boolean;
  return true;
}

CLEARWAY_GEN_FUNCTION bool clearway_gen_read_integer(const clearway_value *value, clearway_gen_validation_issue *issue, int64_t min, int64_t max, const char *expected, int64_t *to) {
  if (value == NULL || value->kind != CLEARWAY_KIND_INTEGER || value->as.integer < min || value->as.integer > max)
    return clearway_gen_reject(issue, expected);
  *to = value->as.integer;
  return true;
}

CLEARWAY_GEN_FUNCTION bool clearway_gen_read_i32(const clearway_value *value, clearway_gen_arena *arena, clearway_gen_validation_issue *issue, int32_t *to) {
  int64_t integer = 0;
  (void)arena;
  if (!clearway_gen_read_integer(value, issue, INT32_MIN, INT32_MAX, "a whole number of 32 bits", &integer)) return false;
  *to = (int32_t)integer;
  return true;
}

CLEARWAY_GEN_FUNCTION bool clearway_gen_read_int(const clearway_value *value, clearway_gen_arena *arena, clearway_gen_validation_issue *issue, int64_t *to) {
  const int64_t max = (INT64_C(1) << 53) - 1;
  (void)arena;
  return clearway_gen_read_integer(value, issue, -max, max, "a whole number up to 2^53", to);
}

CLEARWAY_GEN_FUNCTION bool clearway_gen_read_i64(const clearway_value *value, clearway_gen_arena *arena, clearway_gen_validation_issue *issue, int64_t *to) {
  (void)arena;
  return clearway_gen_read_integer(value, issue, INT64_MIN, INT64_MAX, "a whole number of 64 bits", to);
}

/** Decodes a float, or an integer that is exact as a float. JavaScript, for example, sends the number 1.0 as an integer. */
CLEARWAY_GEN_FUNCTION bool clearway_gen_read_f64(const clearway_value *value, clearway_gen_arena *arena, clearway_gen_validation_issue *issue, double *to) {
  (void)arena;
  if (value != NULL && value->kind == CLEARWAY_KIND_FLOAT64) {
    *to = value->as.float64;
    return true;
  }
  if (value == NULL || value->kind != CLEARWAY_KIND_INTEGER) return clearway_gen_reject(issue, "a number");
  *to = (double)value->as.integer;
  // 2^63, to which the largest integers are rounded, has no form as an integer.
  if (*to < 9223372036854775808.0 && (int64_t)*to == value->as.integer) return true;
  return clearway_gen_reject(issue, "a number");
}

CLEARWAY_GEN_FUNCTION bool clearway_gen_read_text(const clearway_value *value, clearway_gen_arena *arena, clearway_gen_validation_issue *issue, clearway_text *to) {
  (void)arena;
  if (value == NULL || value->kind != CLEARWAY_KIND_TEXT) return clearway_gen_reject(issue, "a text");
  to->data = (const char *)value->as.bytes;
  to->size = value->count;
  return true;
}

/** Returns the numbers of a list, in *items. Copies them to the arena if their address is not aligned. */
CLEARWAY_GEN_FUNCTION bool clearway_gen_read_numbers(const clearway_value *value, clearway_gen_arena *arena, clearway_gen_validation_issue *issue, clearway_kind kind, size_t size, const char *expected, const void **items, size_t *count) {
  if (value == NULL || value->kind != kind) return clearway_gen_reject(issue, expected);
  *count = value->count;
  *items = value->as.bytes;
  if ((uintptr_t)value->as.bytes % size == 0) return true;
  void *copy = clearway_gen_allocate(arena, value->count, size);
  if (copy == NULL) return clearway_gen_reject(issue, "small enough for the memory that is left");
  memcpy(copy, value->as.bytes, value->count * size);
  *items = copy;
  return true;
}

#define CLEARWAY_GEN_NUMBERS(name, element, kind, expected) \\
  CLEARWAY_GEN_FUNCTION bool clearway_gen_read_##name(const clearway_value *value, clearway_gen_arena *arena, clearway_gen_validation_issue *issue, clearway_##name *to) { \\
    const void *items = NULL; \\
    if (!clearway_gen_read_numbers(value, arena, issue, kind, sizeof(element), expected, &items, &to->count)) return false; \\
    to->items = (const element *)items; \\
    return true; \\
  } \\
  CLEARWAY_GEN_FUNCTION clearway_gen_add_result clearway_gen_add_##name(clearway_values *values, const clearway_##name *from) { \\
    return clearway_add_numbers(values, kind, from->items, from->count) ? CLEARWAY_GEN_ADDED : CLEARWAY_GEN_NO_ROOM; \\
  }
CLEARWAY_GEN_NUMBERS(bytes, uint8_t, CLEARWAY_KIND_UINT8_LIST, "bytes")
CLEARWAY_GEN_NUMBERS(i32s, int32_t, CLEARWAY_KIND_INT32_LIST, "a list of 32-bit integers")
CLEARWAY_GEN_NUMBERS(i64s, int64_t, CLEARWAY_KIND_INT64_LIST, "a list of 64-bit integers")
CLEARWAY_GEN_NUMBERS(f32s, float, CLEARWAY_KIND_FLOAT32_LIST, "a list of 32-bit floats")
CLEARWAY_GEN_NUMBERS(f64s, double, CLEARWAY_KIND_FLOAT64_LIST, "a list of 64-bit floats")
#undef CLEARWAY_GEN_NUMBERS

// Each of the following functions encodes *from: it appends the value to the values of a message.
#define CLEARWAY_GEN_ADD(name, type, added) \\
  CLEARWAY_GEN_FUNCTION clearway_gen_add_result clearway_gen_add_##name(clearway_values *values, const type *from) { \\
    return added ? CLEARWAY_GEN_ADDED : CLEARWAY_GEN_NO_ROOM; \\
  }
CLEARWAY_GEN_ADD(bool, bool, clearway_add_bool(values, *from))
CLEARWAY_GEN_ADD(i32, int32_t, clearway_add_integer(values, *from))
CLEARWAY_GEN_ADD(i64, int64_t, clearway_add_integer(values, *from))
CLEARWAY_GEN_ADD(f64, double, clearway_add_float64(values, *from))
CLEARWAY_GEN_ADD(text, clearway_text, clearway_add_text(values, from->data, from->size))
#undef CLEARWAY_GEN_ADD

/** Encodes a whole number, which must have at most 2^53 - 1 as its magnitude: JavaScript's numbers are exact up to there. */
CLEARWAY_GEN_FUNCTION clearway_gen_add_result clearway_gen_add_int(clearway_values *values, const int64_t *from) {
  if (*from > INT64_C(9007199254740991) || *from < -INT64_C(9007199254740991)) return CLEARWAY_GEN_INVALID;
  return clearway_add_integer(values, *from) ? CLEARWAY_GEN_ADDED : CLEARWAY_GEN_NO_ROOM;
}

/** Appends a copy of a value and of all values that it contains. A null pointer is the value null. */
CLEARWAY_GEN_FUNCTION clearway_gen_add_result clearway_gen_add_any(clearway_values *values, const clearway_value *const *from) {
  if (*from == NULL) return clearway_add_null(values) ? CLEARWAY_GEN_ADDED : CLEARWAY_GEN_NO_ROOM;
  for (uint32_t at = 0; at < ((*from)->nodes == 0 ? 1 : (*from)->nodes); at++) {
    clearway_value *added = clearway_add(values, (*from)[at]);
    if (added == NULL) return CLEARWAY_GEN_NO_ROOM;
    *added = (*from)[at];
  }
  return CLEARWAY_GEN_ADDED;
}

/** Decodes a method call. Enlarges \`values->at\` until it has room for all values. The caller frees this array, also after an error. */
CLEARWAY_GEN_FUNCTION clearway_codec_code clearway_gen_read_call(const clearway_content *message, clearway_values *values, clearway_method_call *call) {
  for (size_t capacity = 64;; capacity *= 4) {
    clearway_value *more = (clearway_value *)realloc(values->at, capacity * sizeof *more);
    if (more == NULL) return CLEARWAY_CODEC_TOO_LARGE;
    values->at = more;
    values->capacity = capacity;
    values->used = 0;
    const clearway_codec_code code = clearway_read_standard_call(message->data, message->size, NULL, values, call).code;
    // A message of n bytes has at most n values, so a larger array would not help.
    if (code != CLEARWAY_CODEC_NO_ROOM || capacity > message->size) return code;
  }
}

/** Appends a value of one type to \`values\`. */
typedef clearway_gen_add_result (*clearway_gen_adder)(clearway_values *values, const void *from);

/**
 * Encodes an envelope into new memory of the host. The caller releases \`view->memory\`. \`add\` appends the envelope's value. It is null if
 * the value is null or if the envelope is an error.
 */
CLEARWAY_GEN_FUNCTION clearway_status clearway_gen_encode_envelope(const clearway_host *host, clearway_plugin_id plugin, clearway_gen_adder add, const void *from, clearway_envelope envelope, clearway_view *view) {
  clearway_values values = {0};
  clearway_status status = CLEARWAY_OK;
  for (size_t capacity = 64; add != NULL; capacity *= 4) {
    clearway_value *more = (clearway_value *)realloc(values.at, capacity * sizeof *more);
    if (more == NULL || capacity > (SIZE_MAX >> 8)) {
      free(more != NULL ? more : values.at);
      return CLEARWAY_OUT_OF_MEMORY;
    }
    values.at = more;
    values.capacity = capacity;
    values.used = 0;
    const clearway_gen_add_result added = add(&values, from);
    if (added == CLEARWAY_GEN_INVALID) {
      free(values.at);
      return CLEARWAY_INVALID_ARGUMENT;
    }
    if (added == CLEARWAY_GEN_ADDED) break;
  }
  if (envelope.kind == CLEARWAY_ENVELOPE_SUCCESS) envelope.value = values.at;
  clearway_message message = {0};
  clearway_codec_code code = clearway_write_standard_envelope(&message, NULL, &envelope).code;
  // The message has no room yet, so the write above only measures the envelope.
  if (code != CLEARWAY_CODEC_NO_ROOM) status = CLEARWAY_INVALID_ARGUMENT;
  if (status == CLEARWAY_OK) status = host->allocate(plugin, message.size, 0, view);
  if (status == CLEARWAY_OK) {
    message = (clearway_message){.bytes = view->data, .capacity = view->size, .size = 0};
    clearway_write_standard_envelope(&message, NULL, &envelope);
  }
  free(values.at);
  return status;
}

/**
 * Answers a call. If \`code\` is not null, the answer is an error. Otherwise it is the result that \`add\` appends, or null if \`add\` is
 * null.
 */
CLEARWAY_GEN_FUNCTION clearway_status clearway_gen_reply(const clearway_host *host, clearway_plugin_id plugin, clearway_reply reply, clearway_gen_adder add, const void *from, const char *code, const char *text) {
  clearway_value parts[2] = {{.kind = CLEARWAY_KIND_TEXT, .nodes = 1}, {.kind = CLEARWAY_KIND_TEXT, .nodes = 1}};
  clearway_envelope envelope = {.kind = CLEARWAY_ENVELOPE_SUCCESS};
  if (code != NULL) {
    parts[0].count = strlen(code);
    parts[0].as.bytes = (const uint8_t *)code;
    parts[1].count = strlen(text);
    parts[1].as.bytes = (const uint8_t *)text;
    envelope = (clearway_envelope){.kind = CLEARWAY_ENVELOPE_ERROR, .code = &parts[0], .message = &parts[1]};
  }
  clearway_view view = {0};
  clearway_status status = clearway_gen_encode_envelope(host, plugin, add, from, envelope, &view);
  if (status != CLEARWAY_OK) return status;
  const clearway_content content = {.data = view.data, .size = view.size, .memory = view.memory};
  status = host->reply(reply, &content);
  host->release(view.memory);
  return status;
}

/** Answers a call with the error for arguments that do not match the schema. */
CLEARWAY_GEN_FUNCTION clearway_status clearway_gen_reply_invalid_arguments(const clearway_host *host, clearway_plugin_id plugin, clearway_reply reply, const char *call, const clearway_gen_validation_issue *issue) {
  char text[512];
  snprintf(text, sizeof text, "%s: args%s must be %s", call, issue->path, issue->expected);
  clearway_gen_cut_character(text);
  return clearway_gen_reply(host, plugin, reply, NULL, NULL, "invalid-argument", text);
}

/** Emits an event. \`add\` appends its value, or is null if the value is null. */
CLEARWAY_GEN_FUNCTION clearway_status clearway_gen_emit(const clearway_host *host, clearway_plugin_id plugin, clearway_stream stream, clearway_gen_adder add, const void *from) {
  clearway_view view = {0};
  clearway_status status = clearway_gen_encode_envelope(host, plugin, add, from, (clearway_envelope){.kind = CLEARWAY_ENVELOPE_SUCCESS}, &view);
  if (status != CLEARWAY_OK) return status;
  const clearway_content content = {.data = view.data, .size = view.size, .memory = view.memory};
  status = host->emit(stream, &content);
  host->release(view.memory);
  return status;
}

#endif
`;
