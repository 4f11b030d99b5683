// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The codecs of Clearway's channels in C11 (spec/wire.md): standard, standard-method, json, json-method, string, binary.
// String and binary are bytes as they are; for a text there is clearway_check_text.
//
// No function allocates, blocks, locks or keeps anything: all memory is the caller's, so every function may run on any
// thread. Nothing is ever sized by a count that a message announces. Little-endian hosts only; others get
// CLEARWAY_CODEC_UNSUPPORTED_HOST.
#ifndef CLEARWAY_CODEC_H
#define CLEARWAY_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a codec answers; spec/wire.md says which offset goes with each. */
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
  /** The caller's memory is too small: the values' or the text's when reading, the message's when writing. */
  CLEARWAY_CODEC_NO_ROOM = 10,
} clearway_codec_code;

/** The name of a code as the other languages have it, such as "trailing-bytes". Static memory. */
const char *clearway_codec_code_name(clearway_codec_code code);

/** An answer: reading, the offset of the byte that is wrong; writing, how many bytes had been written. */
typedef struct clearway_codec_result {
  clearway_codec_code code;
  size_t offset;
} clearway_codec_result;

/** What a value is. Kinds from UINT8_LIST to FLOAT32_LIST are lists of numbers. */
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
 * A value. A list or a map is followed, in the same array, by what is in it: `nodes` is how many array elements a value
 * takes with all that is in it, so `value + value->nodes` is the next one beside it. A map's keys and values stand in turn.
 */
typedef struct clearway_value {
  clearway_kind kind;
  uint32_t nodes;
  /** Bytes of a text or of a big integer's digits; elements of a list; entries of a map. */
  size_t count;
  union {
    bool boolean;
    int64_t integer;
    double float64;
    /** A text (UTF-8, not ended by a zero), hex digits with a sign, or elements, which may stand at any address. */
    const uint8_t *bytes;
    /** Used while a list or a map is open. */
    struct {
      uint32_t parent;
      uint32_t left;
    } open;
  } as;
} clearway_value;

/**
 * The caller's memory for values, used from the front on; reset by setting `used` and `text_used` to 0. A standard message
 * of n bytes holds n values at most, a JSON text of n bytes (n + 1) / 2. `text` is used by JSON alone, for texts with
 * escapes, n bytes at most; it may be null.
 */
typedef struct clearway_values {
  clearway_value *at;
  size_t capacity;
  size_t used;
  uint8_t *text;
  size_t text_capacity;
  size_t text_used;
} clearway_values;

/** What a codec refuses for its size. */
typedef struct clearway_codec_limits {
  /** How many lists and maps may stand inside one another. */
  uint32_t depth_max;
  /** How many values the counts of one message may announce together. */
  uint32_t items_max;
} clearway_codec_limits;

/** 128 deep, 16,777,216 values: the limits of every language unless set. */
extern const clearway_codec_limits clearway_codec_default_limits;

/** Memory of the caller's that a message is written to. `size` goes on counting where there is no room. */
typedef struct clearway_message {
  uint8_t *bytes;
  size_t capacity;
  size_t size;
} clearway_message;

// ---- Reading ------------------------------------------------------------------------------------------------------------
// Values are put into `values`; `*value` is the first. Texts and number lists point into the message, which must stay as it
// is while they are used; memory that another thread may write to must be copied first. Null `limits` are the default ones.

/** A value with its type byte. No bytes are truncated here; as a message of a channel they are null: ask for size == 0. */
clearway_codec_result clearway_read_standard(const uint8_t *bytes, size_t size, const clearway_codec_limits *limits,
                                             clearway_values *values, const clearway_value **value);

/** UTF-8 JSON. Whole numbers that are exact (up to 2^53 - 1) are integers. No bytes are truncated, as above. */
clearway_codec_result clearway_read_json(const uint8_t *bytes, size_t size, const clearway_codec_limits *limits,
                                         clearway_values *values, const clearway_value **value);

/** The call of a method: a name and arguments. */
typedef struct clearway_method_call {
  const clearway_value *method;
  const clearway_value *arguments;
} clearway_method_call;

typedef enum clearway_envelope_kind {
  /** No bytes at all: not implemented, or no handler. */
  CLEARWAY_ENVELOPE_NONE,
  CLEARWAY_ENVELOPE_SUCCESS,
  CLEARWAY_ENVELOPE_ERROR,
} clearway_envelope_kind;

/** A reply's envelope. */
typedef struct clearway_envelope {
  clearway_envelope_kind kind;
  /** Of a success. */
  const clearway_value *value;
  /** Of an error; the stack is null where the envelope has three values. Code is a text, message and stack text or null. */
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

/** Whether bytes are UTF-8: the offset is that of the first ill-formed sequence, with CLEARWAY_CODEC_BAD_UTF8. */
clearway_codec_result clearway_check_text(const uint8_t *bytes, size_t size);

// ---- Writing ------------------------------------------------------------------------------------------------------------
// Each writes one message, whose `size` is 0 before. Where it does not fit the answer is CLEARWAY_CODEC_NO_ROOM, and `message->size` is the size that
// is needed: writing to a message of capacity 0 measures. After another refusal what was written is to be thrown away.

clearway_codec_result clearway_write_standard(clearway_message *message, const clearway_codec_limits *limits,
                                              const clearway_value *value);
clearway_codec_result clearway_write_json(clearway_message *message, const clearway_codec_limits *limits,
                                          const clearway_value *value);
/** A null `arguments` is the value null. */
clearway_codec_result clearway_write_standard_call(clearway_message *message, const clearway_codec_limits *limits,
                                                   const clearway_method_call *call);
clearway_codec_result clearway_write_json_call(clearway_message *message, const clearway_codec_limits *limits,
                                               const clearway_method_call *call);
/** CLEARWAY_ENVELOPE_NONE writes nothing. Of an error a null `stack` writes three values; other null parts are the value null. */
clearway_codec_result clearway_write_standard_envelope(clearway_message *message, const clearway_codec_limits *limits,
                                                    const clearway_envelope *envelope);
clearway_codec_result clearway_write_json_envelope(clearway_message *message, const clearway_codec_limits *limits,
                                                const clearway_envelope *envelope);

// ---- Making values, and looking into them -------------------------------------------------------------------------------

/** Appends a value that holds no others. Null where there is no room. What it points to is the caller's, and is not copied. */
clearway_value *clearway_add(clearway_values *values, clearway_value value);
clearway_value *clearway_add_null(clearway_values *values);
clearway_value *clearway_add_bool(clearway_values *values, bool boolean);
clearway_value *clearway_add_integer(clearway_values *values, int64_t integer);
clearway_value *clearway_add_float64(clearway_values *values, double float64);
clearway_value *clearway_add_text(clearway_values *values, const char *text, size_t size);
/** `kind` is a list of numbers; `count` its elements. */
clearway_value *clearway_add_numbers(clearway_values *values, clearway_kind kind, const void *elements, size_t count);

/** Begins a list or a map; what is appended from now on is in it. Null where there is no room. */
clearway_value *clearway_begin(clearway_values *values, clearway_kind kind);
/** Ends it, innermost first. False, and nothing done, for a map with a key that has no value. */
bool clearway_end(clearway_values *values, clearway_value *open);

/** The value of a text key in a map, the last if it comes twice; null if it is not there, or `map` is no map. */
const clearway_value *clearway_find(const clearway_value *map, const char *key);
/** An element of a list of values; null beyond its end. Walks: O(index). */
const clearway_value *clearway_element(const clearway_value *list, size_t index);
/** Whether a value is this text. */
bool clearway_text_is(const clearway_value *value, const char *text);

#ifdef __cplusplus
}
#endif

#endif
