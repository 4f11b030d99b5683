// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The codecs of Clearway's channels in C11 (spec/wire.md): standard, standard-method, json, json-method, string, binary.
// The codecs string and binary are the bytes themselves; clearway_check_text validates a text.
//
// No function allocates, blocks, locks or keeps memory: all memory is the caller's, so every function may run on any
// thread. Nothing is ever sized by a count that a message announces. Hosts must be little-endian; others get
// CLEARWAY_CODEC_UNSUPPORTED_HOST.
#ifndef CLEARWAY_CODEC_H
#define CLEARWAY_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The result codes of a codec. spec/wire.md defines the offset of each. */
typedef enum clearway_codec_code {
  CLEARWAY_CODEC_OK = 0,
  CLEARWAY_CODEC_TRUNCATED = 1,
  CLEARWAY_CODEC_TRAILING_BYTES = 2,
  CLEARWAY_CODEC_UNKNOWN_TAG = 3,
  CLEARWAY_CODEC_BAD_UTF8 = 4,
  CLEARWAY_CODEC_MALFORMED = 5,
  CLEARWAY_CODEC_TOO_DEEP = 6,
  CLEARWAY_CODEC_TOO_LARGE = 7,
  CLEARWAY_CODEC_NOT_ENCODABLE = 8,
  CLEARWAY_CODEC_UNSUPPORTED_HOST = 9,
  /** The caller's memory is too small: for values or text when reading, for the message when writing. */
  CLEARWAY_CODEC_NO_ROOM = 10,
} clearway_codec_code;

/** Returns a code's name as in the other languages, such as "trailing-bytes". Static memory. */
const char *clearway_codec_code_name(clearway_codec_code code);

/** A code and an offset: of the wrong byte when reading, the number of written bytes when writing. */
typedef struct clearway_codec_result {
  clearway_codec_code code;
  size_t offset;
} clearway_codec_result;

/** The kind of a value. Kinds from UINT8_LIST to FLOAT32_LIST are lists of numbers. */
typedef enum clearway_kind {
  CLEARWAY_KIND_NULL,
  CLEARWAY_KIND_BOOL,
  CLEARWAY_KIND_INTEGER,
  CLEARWAY_KIND_BIG_INTEGER,
  CLEARWAY_KIND_FLOAT64,
  CLEARWAY_KIND_TEXT,
  CLEARWAY_KIND_UINT8_LIST,
  CLEARWAY_KIND_INT32_LIST,
  CLEARWAY_KIND_INT64_LIST,
  CLEARWAY_KIND_FLOAT64_LIST,
  CLEARWAY_KIND_FLOAT32_LIST,
  CLEARWAY_KIND_LIST,
  CLEARWAY_KIND_MAP,
} clearway_kind;

/**
 * A value. The contents of a list or a map follow it in the same array. `nodes` is the number of array elements of the value
 * and its contents, so `value + value->nodes` is the next value at the same level. A map's keys and values alternate.
 */
typedef struct clearway_value {
  clearway_kind kind;
  uint32_t nodes;
  /** The bytes of a text or of a big integer's digits, the elements of a list, or the entries of a map. */
  size_t count;
  union {
    bool boolean;
    int64_t integer;
    double float64;
    /** A text (UTF-8, without a terminating zero), hex digits with a sign, or elements, which may be unaligned. */
    const uint8_t *bytes;
    /** Used while a list or a map is open. */
    struct {
      uint32_t parent;
      uint32_t left;
    } open;
  } as;
} clearway_value;

/**
 * The caller's memory for values, filled from the front. Set `used` and `text_used` to 0 to reuse it. A standard message of
 * n bytes has at most n values, a JSON text of n bytes at most (n + 1) / 2. Only JSON uses `text`, for texts with escapes,
 * at most n bytes; `text` may be null.
 */
typedef struct clearway_values {
  clearway_value *at;
  size_t capacity;
  size_t used;
  uint8_t *text;
  size_t text_capacity;
  size_t text_used;
} clearway_values;

/** Limits of a message's nesting and number of values. */
typedef struct clearway_codec_limits {
  /** The maximum nesting depth of lists and maps. */
  uint32_t depth_max;
  /** The maximum sum of the counts that one message announces. */
  uint32_t items_max;
} clearway_codec_limits;

/** Depth 128 and 16,777,216 values: the default limits in every language. */
extern const clearway_codec_limits clearway_codec_default_limits;

/** The caller's memory for a written message. `size` counts further when there is no room. */
typedef struct clearway_message {
  uint8_t *bytes;
  size_t capacity;
  size_t size;
} clearway_message;

// ---- Reading ------------------------------------------------------------------------------------------------------------
// These functions append to `values` and set `*value` to the first value. Texts and number lists point into the message, which
// must not change while they are used. Copy memory first if another thread may write to it. Null `limits` means the defaults.

/** Reads a value with its type byte. Zero bytes are truncated here, but null as a channel's message: check size == 0 first. */
clearway_codec_result clearway_read_standard(const uint8_t *bytes, size_t size, const clearway_codec_limits *limits,
                                             clearway_values *values, const clearway_value **value);

/** Reads UTF-8 JSON. Exact whole numbers (up to 2^53 - 1) become integers. Zero bytes are truncated, as above. */
clearway_codec_result clearway_read_json(const uint8_t *bytes, size_t size, const clearway_codec_limits *limits,
                                         clearway_values *values, const clearway_value **value);

/** A method call: a name and arguments. */
typedef struct clearway_method_call {
  const clearway_value *method;
  const clearway_value *arguments;
} clearway_method_call;

typedef enum clearway_envelope_kind {
  /** Zero bytes: not implemented, or no handler. */
  CLEARWAY_ENVELOPE_NONE,
  CLEARWAY_ENVELOPE_SUCCESS,
  CLEARWAY_ENVELOPE_ERROR,
} clearway_envelope_kind;

/** A reply's envelope. */
typedef struct clearway_envelope {
  clearway_envelope_kind kind;
  /** The result of a success. */
  const clearway_value *value;
  /** The parts of an error: a text, a text or null, any value, and a text or null. `stack` is null if there are three values. */
  const clearway_value *code;
  const clearway_value *message;
  const clearway_value *details;
  const clearway_value *stack;
} clearway_envelope;

clearway_codec_result clearway_read_standard_call(const uint8_t *bytes, size_t size, const clearway_codec_limits *limits,
                                                  clearway_values *values, clearway_method_call *call);
clearway_codec_result clearway_read_standard_envelope(const uint8_t *bytes, size_t size, const clearway_codec_limits *limits,
                                                   clearway_values *values, clearway_envelope *envelope);
clearway_codec_result clearway_read_json_call(const uint8_t *bytes, size_t size, const clearway_codec_limits *limits,
                                              clearway_values *values, clearway_method_call *call);
clearway_codec_result clearway_read_json_envelope(const uint8_t *bytes, size_t size, const clearway_codec_limits *limits,
                                               clearway_values *values, clearway_envelope *envelope);

/** Checks that bytes are UTF-8. If not, returns CLEARWAY_CODEC_BAD_UTF8 and the offset of the first ill-formed sequence. */
clearway_codec_result clearway_check_text(const uint8_t *bytes, size_t size);

// ---- Writing ------------------------------------------------------------------------------------------------------------
// Each function writes one message, whose `size` must be 0 before. If the message does not fit, the function returns
// CLEARWAY_CODEC_NO_ROOM and `message->size` is the required size: a message of capacity 0 measures. After any other error,
// discard the message.

clearway_codec_result clearway_write_standard(clearway_message *message, const clearway_codec_limits *limits,
                                              const clearway_value *value);
clearway_codec_result clearway_write_json(clearway_message *message, const clearway_codec_limits *limits,
                                          const clearway_value *value);
/** Writes a call. A null `arguments` is the value null. */
clearway_codec_result clearway_write_standard_call(clearway_message *message, const clearway_codec_limits *limits,
                                                   const clearway_method_call *call);
clearway_codec_result clearway_write_json_call(clearway_message *message, const clearway_codec_limits *limits,
                                               const clearway_method_call *call);
/** Writes a reply; nothing for CLEARWAY_ENVELOPE_NONE. An error without `stack` has three values; other null pointers mean null. */
clearway_codec_result clearway_write_standard_envelope(clearway_message *message, const clearway_codec_limits *limits,
                                                    const clearway_envelope *envelope);
clearway_codec_result clearway_write_json_envelope(clearway_message *message, const clearway_codec_limits *limits,
                                                const clearway_envelope *envelope);

// ---- Making and reading values ------------------------------------------------------------------------------------------

/** Appends a value without contents. Returns null if there is no room. Its bytes stay the caller's and are not copied. */
clearway_value *clearway_add(clearway_values *values, clearway_value value);
clearway_value *clearway_add_null(clearway_values *values);
clearway_value *clearway_add_bool(clearway_values *values, bool boolean);
clearway_value *clearway_add_integer(clearway_values *values, int64_t integer);
clearway_value *clearway_add_float64(clearway_values *values, double float64);
clearway_value *clearway_add_text(clearway_values *values, const char *text, size_t size);
/** Appends a list of numbers. `kind` is a kind of number list; `count` is the number of elements. */
clearway_value *clearway_add_numbers(clearway_values *values, clearway_kind kind, const void *elements, size_t count);

/** Begins a list or a map. Values that are appended before its end belong to it. Returns null if there is no room. */
clearway_value *clearway_begin(clearway_values *values, clearway_kind kind);
/** Ends the innermost open list or map. Returns false and does nothing if a map's last key has no value. */
bool clearway_end(clearway_values *values, clearway_value *open);

/** Returns the value of a text key in a map, the last one if the key is repeated; null if absent or if `map` is not a map. */
const clearway_value *clearway_find(const clearway_value *map, const char *key);
/** Returns an element of a list of values; null past its end. O(index). */
const clearway_value *clearway_element(const clearway_value *list, size_t index);
/** Returns whether a value is this text. */
bool clearway_text_is(const clearway_value *value, const char *text);

#ifdef __cplusplus
}
#endif

#endif
