// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * The text of the C code that every generated header contains. The code has an include guard, because one C file may include several
 * headers.
 */
export const cSupport = `#ifndef CLEARWAY_GEN_SUPPORT
#define CLEARWAY_GEN_SUPPORT

// Not every file uses all of it.
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

/** Memory for the lists of what was read. Begin with zeros; freed as a whole by clearway_gen_free. */
typedef struct clearway_gen_arena {
  void **blocks;
  size_t count;
} clearway_gen_arena;

/** What does not fit its type: where, and what must stand there. */
typedef struct clearway_gen_misfit {
  const char *expected;
  char path[200];
} clearway_gen_misfit;

typedef enum clearway_gen_added { CLEARWAY_GEN_ADDED, CLEARWAY_GEN_NO_ROOM, CLEARWAY_GEN_INVALID } clearway_gen_added;

CLEARWAY_GEN_FUNCTION void clearway_gen_free(clearway_gen_arena *arena) {
  for (size_t at = 0; at < arena->count; at++) free(arena->blocks[at]);
  free(arena->blocks);
  arena->blocks = NULL;
  arena->count = 0;
}

/** Memory of the arena's; null where there is none left. */
CLEARWAY_GEN_FUNCTION void *clearway_gen_take(clearway_gen_arena *arena, size_t count, size_t size) {
  if (size != 0 && count > SIZE_MAX / size) return NULL;
  void **blocks = (void **)realloc(arena->blocks, (arena->count + 1) * sizeof *blocks);
  if (blocks == NULL) return NULL;
  arena->blocks = blocks;
  void *taken = malloc(count * size == 0 ? 1 : count * size);
  if (taken != NULL) arena->blocks[arena->count++] = taken;
  return taken;
}

CLEARWAY_GEN_FUNCTION bool clearway_gen_refuse(clearway_gen_misfit *misfit, const char *expected) {
  misfit->expected = expected;
  misfit->path[0] = 0;
  return false;
}

/** Puts a step in front of the path; one that is too long loses its end. */
CLEARWAY_GEN_FUNCTION bool clearway_gen_inside(clearway_gen_misfit *misfit, const char *step) {
  char path[sizeof misfit->path];
  snprintf(path, sizeof path, "%s%s", step, misfit->path);
  memcpy(misfit->path, path, sizeof path);
  return false;
}

CLEARWAY_GEN_FUNCTION bool clearway_gen_inside_item(clearway_gen_misfit *misfit, size_t index) {
  char step[32];
  snprintf(step, sizeof step, "[%zu]", index);
  return clearway_gen_inside(misfit, step);
}

CLEARWAY_GEN_FUNCTION bool clearway_gen_is_null(const clearway_value *value) {
  return value == NULL || value->kind == CLEARWAY_KIND_NULL;
}

CLEARWAY_GEN_FUNCTION bool clearway_gen_read_any(const clearway_value *value, clearway_gen_arena *arena, clearway_gen_misfit *misfit, const clearway_value **to) {
  (void)arena;
  (void)misfit;
  *to = value;
  return true;
}

CLEARWAY_GEN_FUNCTION bool clearway_gen_read_bool(const clearway_value *value, clearway_gen_arena *arena, clearway_gen_misfit *misfit, bool *to) {
  (void)arena;
  if (value == NULL || value->kind != CLEARWAY_KIND_BOOL) return clearway_gen_refuse(misfit, "true or false");
  *to = value->as.boolean;
  return true;
}

CLEARWAY_GEN_FUNCTION bool clearway_gen_read_whole(const clearway_value *value, clearway_gen_misfit *misfit, int64_t min, int64_t max, const char *expected, int64_t *to) {
  if (value == NULL || value->kind != CLEARWAY_KIND_INTEGER || value->as.integer < min || value->as.integer > max)
    return clearway_gen_refuse(misfit, expected);
  *to = value->as.integer;
  return true;
}

CLEARWAY_GEN_FUNCTION bool clearway_gen_read_i32(const clearway_value *value, clearway_gen_arena *arena, clearway_gen_misfit *misfit, int32_t *to) {
  int64_t whole = 0;
  (void)arena;
  if (!clearway_gen_read_whole(value, misfit, INT32_MIN, INT32_MAX, "a whole number of 32 bits", &whole)) return false;
  *to = (int32_t)whole;
  return true;
}

CLEARWAY_GEN_FUNCTION bool clearway_gen_read_int(const clearway_value *value, clearway_gen_arena *arena, clearway_gen_misfit *misfit, int64_t *to) {
  const int64_t max = (INT64_C(1) << 53) - 1;
  (void)arena;
  return clearway_gen_read_whole(value, misfit, -max, max, "a whole number up to 2^53", to);
}

CLEARWAY_GEN_FUNCTION bool clearway_gen_read_i64(const clearway_value *value, clearway_gen_arena *arena, clearway_gen_misfit *misfit, int64_t *to) {
  (void)arena;
  return clearway_gen_read_whole(value, misfit, INT64_MIN, INT64_MAX, "a whole number of 64 bits", to);
}

/** Takes whole numbers too: not every end keeps the two apart. */
CLEARWAY_GEN_FUNCTION bool clearway_gen_read_f64(const clearway_value *value, clearway_gen_arena *arena, clearway_gen_misfit *misfit, double *to) {
  (void)arena;
  if (value != NULL && value->kind == CLEARWAY_KIND_FLOAT64) *to = value->as.float64;
  else if (value != NULL && value->kind == CLEARWAY_KIND_INTEGER) *to = (double)value->as.integer;
  else return clearway_gen_refuse(misfit, "a number");
  return true;
}

CLEARWAY_GEN_FUNCTION bool clearway_gen_read_text(const clearway_value *value, clearway_gen_arena *arena, clearway_gen_misfit *misfit, clearway_text *to) {
  (void)arena;
  if (value == NULL || value->kind != CLEARWAY_KIND_TEXT) return clearway_gen_refuse(misfit, "a text");
  to->data = (const char *)value->as.bytes;
  to->size = value->count;
  return true;
}

/** Elements where they are, or a copy of them where they do not stand at a multiple of their size. */
CLEARWAY_GEN_FUNCTION bool clearway_gen_read_numbers(const clearway_value *value, clearway_gen_arena *arena, clearway_gen_misfit *misfit, clearway_kind kind, size_t size, const char *expected, const void **items, size_t *count) {
  if (value == NULL || value->kind != kind) return clearway_gen_refuse(misfit, expected);
  *count = value->count;
  *items = value->as.bytes;
  if ((uintptr_t)value->as.bytes % size == 0) return true;
  void *copy = clearway_gen_take(arena, value->count, size);
  if (copy == NULL) return clearway_gen_refuse(misfit, "small enough for the memory that is left");
  memcpy(copy, value->as.bytes, value->count * size);
  *items = copy;
  return true;
}

#define CLEARWAY_GEN_NUMBERS(name, element, kind, expected) \\
  CLEARWAY_GEN_FUNCTION bool clearway_gen_read_##name(const clearway_value *value, clearway_gen_arena *arena, clearway_gen_misfit *misfit, clearway_##name *to) { \\
    const void *items = NULL; \\
    if (!clearway_gen_read_numbers(value, arena, misfit, kind, sizeof(element), expected, &items, &to->count)) return false; \\
    to->items = (const element *)items; \\
    return true; \\
  } \\
  CLEARWAY_GEN_FUNCTION clearway_gen_added clearway_gen_add_##name(clearway_values *values, const clearway_##name *from) { \\
    return clearway_add_numbers(values, kind, from->items, from->count) ? CLEARWAY_GEN_ADDED : CLEARWAY_GEN_NO_ROOM; \\
  }
CLEARWAY_GEN_NUMBERS(bytes, uint8_t, CLEARWAY_KIND_UINT8_LIST, "bytes")
CLEARWAY_GEN_NUMBERS(i32s, int32_t, CLEARWAY_KIND_INT32_LIST, "a list of 32-bit integers")
CLEARWAY_GEN_NUMBERS(i64s, int64_t, CLEARWAY_KIND_INT64_LIST, "a list of 64-bit integers")
CLEARWAY_GEN_NUMBERS(f32s, float, CLEARWAY_KIND_FLOAT32_LIST, "a list of 32-bit floats")
CLEARWAY_GEN_NUMBERS(f64s, double, CLEARWAY_KIND_FLOAT64_LIST, "a list of 64-bit floats")
#undef CLEARWAY_GEN_NUMBERS

#define CLEARWAY_GEN_ADD(name, type, made) \\
  CLEARWAY_GEN_FUNCTION clearway_gen_added clearway_gen_add_##name(clearway_values *values, const type *from) { \\
    return made ? CLEARWAY_GEN_ADDED : CLEARWAY_GEN_NO_ROOM; \\
  }
CLEARWAY_GEN_ADD(bool, bool, clearway_add_bool(values, *from))
CLEARWAY_GEN_ADD(i32, int32_t, clearway_add_integer(values, *from))
CLEARWAY_GEN_ADD(int, int64_t, clearway_add_integer(values, *from))
CLEARWAY_GEN_ADD(i64, int64_t, clearway_add_integer(values, *from))
CLEARWAY_GEN_ADD(f64, double, clearway_add_float64(values, *from))
CLEARWAY_GEN_ADD(text, clearway_text, clearway_add_text(values, from->data, from->size))
#undef CLEARWAY_GEN_ADD

/** A value with all that is in it; null is the value null. */
CLEARWAY_GEN_FUNCTION clearway_gen_added clearway_gen_add_any(clearway_values *values, const clearway_value *const *from) {
  if (*from == NULL) return clearway_add_null(values) ? CLEARWAY_GEN_ADDED : CLEARWAY_GEN_NO_ROOM;
  for (uint32_t at = 0; at < ((*from)->nodes == 0 ? 1 : (*from)->nodes); at++) {
    clearway_value *added = clearway_add(values, (*from)[at]);
    if (added == NULL) return CLEARWAY_GEN_NO_ROOM;
    *added = (*from)[at];
  }
  return CLEARWAY_GEN_ADDED;
}

/** Reads with as many values as it takes. The caller frees \`values->at\`. */
CLEARWAY_GEN_FUNCTION clearway_codec_code clearway_gen_read_call(const clearway_content *message, clearway_values *values, clearway_method_call *call) {
  for (size_t capacity = 64;; capacity *= 4) {
    clearway_value *more = (clearway_value *)realloc(values->at, capacity * sizeof *more);
    if (more == NULL) return CLEARWAY_CODEC_TOO_LARGE;
    values->at = more;
    values->capacity = capacity;
    values->used = 0;
    const clearway_codec_code code = clearway_read_standard_call(message->data, message->size, NULL, values, call).code;
    // A message of n bytes holds n values at most.
    if (code != CLEARWAY_CODEC_NO_ROOM || capacity > message->size) return code;
  }
}

/** Adds a value of a type to \`values\`. */
typedef clearway_gen_added (*clearway_gen_add)(clearway_values *values, const void *from);

/** An envelope in memory of the host's, whose reference is the caller's. \`add\` adds its value, or null. */
CLEARWAY_GEN_FUNCTION clearway_status clearway_gen_envelope(const clearway_host *host, clearway_plugin_id plugin, clearway_gen_add add, const void *from, clearway_envelope envelope, clearway_view *view) {
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
    const clearway_gen_added added = add(&values, from);
    if (added == CLEARWAY_GEN_INVALID) {
      free(values.at);
      return CLEARWAY_INVALID_ARGUMENT;
    }
    if (added == CLEARWAY_GEN_ADDED) break;
  }
  if (envelope.kind == CLEARWAY_ENVELOPE_SUCCESS) envelope.value = values.at;
  clearway_message message = {0};
  clearway_codec_code code = clearway_write_standard_envelope(&message, NULL, &envelope).code;
  if (code != CLEARWAY_CODEC_NO_ROOM) status = CLEARWAY_INVALID_ARGUMENT; // an envelope has a byte at least
  if (status == CLEARWAY_OK) status = host->allocate(plugin, message.size, 0, view);
  if (status == CLEARWAY_OK) {
    message = (clearway_message){.bytes = view->data, .capacity = view->size, .size = 0};
    clearway_write_standard_envelope(&message, NULL, &envelope);
  }
  free(values.at);
  return status;
}

/** Answers with the value of a method, or with an error where \`add\` is null and \`code\` is not. */
CLEARWAY_GEN_FUNCTION clearway_status clearway_gen_reply(const clearway_host *host, clearway_plugin_id plugin, clearway_reply reply, clearway_gen_add add, const void *from, const char *code, const char *text) {
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
  clearway_status status = clearway_gen_envelope(host, plugin, add, from, envelope, &view);
  if (status != CLEARWAY_OK) return status;
  const clearway_content content = {.data = view.data, .size = view.size, .memory = view.memory};
  status = host->reply(reply, &content);
  host->release(view.memory);
  return status;
}

/** Answers that arguments do not fit. */
CLEARWAY_GEN_FUNCTION clearway_status clearway_gen_reply_misfit(const clearway_host *host, clearway_plugin_id plugin, clearway_reply reply, const char *where, const clearway_gen_misfit *misfit) {
  char text[512];
  snprintf(text, sizeof text, "%s: args%s must be %s", where, misfit->path, misfit->expected);
  return clearway_gen_reply(host, plugin, reply, NULL, NULL, "invalid-argument", text);
}

CLEARWAY_GEN_FUNCTION clearway_status clearway_gen_emit(const clearway_host *host, clearway_plugin_id plugin, clearway_stream stream, clearway_gen_add add, const void *from) {
  clearway_view view = {0};
  clearway_status status = clearway_gen_envelope(host, plugin, add, from, (clearway_envelope){.kind = CLEARWAY_ENVELOPE_SUCCESS}, &view);
  if (status != CLEARWAY_OK) return status;
  const clearway_content content = {.data = view.data, .size = view.size, .memory = view.memory};
  status = host->emit(stream, &content);
  host->release(view.memory);
  return status;
}

#endif
`;
