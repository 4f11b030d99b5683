// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The codecs of Clearway's channels in C11. spec/wire.md specifies their formats. The codecs are standard, standard-method, json,
// json-method, string and binary. The messages of string and binary are the bytes themselves, so no function reads or writes
// them. clearway_check_text validates a message of the codec string.
//
// The caller provides all memory. No function allocates memory, keeps state, locks or blocks, so every function may run on any thread. A
// count in a message never decides how much memory is used. The standard codec needs a little-endian host. On other hosts its functions
// return CLEARWAY_CODEC_UNSUPPORTED_HOST.
#ifndef CLEARWAY_CODEC_H
#define CLEARWAY_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The result codes of a codec. spec/wire.md defines the codes and their offsets. */
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
  /** The caller's memory is too small. Reading needs memory for values and text; writing needs memory for the message. */
  CLEARWAY_CODEC_NO_ROOM = 10,
} clearway_codec_code;

/** Returns the name of a code, such as "trailing-bytes". The names are the same in all languages. The text is static. */
const char *clearway_codec_code_name(clearway_codec_code code);

/**
 * The result of reading or writing. After an error in reading, `offset` is the byte that spec/wire.md defines for the code. After
 * CLEARWAY_CODEC_NO_ROOM in reading, it is the position that the reader has reached. After CLEARWAY_CODEC_NO_ROOM in writing, it
 * is the size of the whole message. After any other error in writing, `offset` has no defined meaning.
 */
typedef struct clearway_codec_result {
  clearway_codec_code code;
  size_t offset;
} clearway_codec_result;

/** The kind of a value. The kinds from UINT8_LIST to FLOAT32_LIST are lists of numbers. */
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
 * A value. The contents of a list or a map follow it in the same array. `nodes` is the number of array elements that the value
 * and its contents take, so `value + value->nodes` is the next value at the same level. In a map, keys and values alternate.
 */
typedef struct clearway_value {
  clearway_kind kind;
  uint32_t nodes;
  /**
   * The number of bytes of a text or a big integer (its sign included), of elements of a list, or of entries of a map.
   */
  size_t count;
  union {
    bool boolean;
    int64_t integer;
    double float64;
    /**
     * The bytes of a text (UTF-8, without a terminating zero), of a big integer (an optional `-` and hex digits), or of a list's
     * numbers. The numbers may be unaligned.
     */
    const uint8_t *bytes;
    /** Used only by the readers, while they read the contents of a list or a map. */
    struct {
      uint32_t parent;
      uint32_t left;
    } open;
  } as;
} clearway_value;

/**
 * The caller's memory for values. The functions fill it from the front. Set `used` and `text_used` to 0 to reuse it. A standard
 * message of n bytes has at most n values, and a JSON message of n bytes at most (n + 1) / 2. The JSON codec copies texts with
 * escapes to `text`; a message of n bytes needs at most n bytes there. `text` may be null if `text_capacity` is 0.
 */
typedef struct clearway_values {
  clearway_value *at;
  size_t capacity;
  size_t used;
  uint8_t *text;
  size_t text_capacity;
  size_t text_used;
} clearway_values;

/** Limits on a message. */
typedef struct clearway_codec_limits {
  /** The maximum nesting depth of lists and maps. */
  uint32_t depth_max;
  /**
   * The maximum number of values that all lists and maps of a standard message may announce together. JSON announces no counts.
   */
  uint32_t items_max;
} clearway_codec_limits;

/** The default limits: a depth of 128 and 16,777,216 values. They are the same in every language. */
extern const clearway_codec_limits clearway_codec_default_limits;

/** The caller's memory for a message to write. If the message does not fit, `size` still counts all of its bytes. */
typedef struct clearway_message {
  uint8_t *bytes;
  size_t capacity;
  size_t size;
} clearway_message;

// ---- Reading ------------------------------------------------------------------------------------------------------------
// The functions clearway_read_... append to `values`. They set `*value`, `*call` or `*envelope` to the result. After an error,
// `*value` and the pointers of `*call` are null, and the kind of `*envelope` is CLEARWAY_ENVELOPE_NONE. Texts, big integers and
// lists of numbers point into the message, so the message must not change while they are used. Only JSON texts with escapes point
// into `values->text`. If another thread may write to the message, copy it first. Null `limits` selects the default limits.

/**
 * Reads a standard message: one value with its type byte. Returns CLEARWAY_CODEC_TRUNCATED for an empty message. A channel reads
 * an empty message as null, so check for size == 0 first.
 */
clearway_codec_result clearway_read_standard(const uint8_t *bytes, size_t size, const clearway_codec_limits *limits,
                                             clearway_values *values, const clearway_value **value);

/**
 * Reads a JSON message in UTF-8. Whole numbers from -(2^53 - 1) to 2^53 - 1 become integers. Other numbers, and minus zero, become
 * float64. Returns CLEARWAY_CODEC_MALFORMED for an empty message, which is no JSON. A channel reads an empty message as null, so
 * check for size == 0 first.
 */
clearway_codec_result clearway_read_json(const uint8_t *bytes, size_t size, const clearway_codec_limits *limits,
                                         clearway_values *values, const clearway_value **value);

/** A method call: a name and arguments. */
typedef struct clearway_method_call {
  const clearway_value *method;
  const clearway_value *arguments;
} clearway_method_call;

/** The kind of a reply. */
typedef enum clearway_envelope_kind {
  /** A reply without bytes: the method is not implemented, or the channel has no handler. */
  CLEARWAY_ENVELOPE_NONE,
  CLEARWAY_ENVELOPE_SUCCESS,
  CLEARWAY_ENVELOPE_ERROR,
} clearway_envelope_kind;

/** A reply: a result, an error, or neither. */
typedef struct clearway_envelope {
  clearway_envelope_kind kind;
  /** The result of a success. */
  const clearway_value *value;
  /**
   * The parts of an error. `code` is a text, `message` a text or null, `details` any value, and `stack` a text or null. The pointer
   * `stack` is null if the error has no fourth part.
   */
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

/**
 * Checks that bytes are UTF-8. If they are not, returns CLEARWAY_CODEC_BAD_UTF8 and the offset of the first ill-formed sequence.
 */
clearway_codec_result clearway_check_text(const uint8_t *bytes, size_t size);

// ---- Writing ------------------------------------------------------------------------------------------------------------
// Each function writes one message. Set `message->size` to 0 before the call. If the message does not fit, the function returns
// CLEARWAY_CODEC_NO_ROOM, and `message->size` is the required size in bytes. To measure a message, write it with the capacity 0.
// After any other error, discard the message.

clearway_codec_result clearway_write_standard(clearway_message *message, const clearway_codec_limits *limits,
                                              const clearway_value *value);
clearway_codec_result clearway_write_json(clearway_message *message, const clearway_codec_limits *limits,
                                          const clearway_value *value);
/** Writes a method call. If the pointer `arguments` is null, writes the value null. */
clearway_codec_result clearway_write_standard_call(clearway_message *message, const clearway_codec_limits *limits,
                                                   const clearway_method_call *call);
clearway_codec_result clearway_write_json_call(clearway_message *message, const clearway_codec_limits *limits,
                                               const clearway_method_call *call);
/**
 * Writes a reply. Writes no bytes for CLEARWAY_ENVELOPE_NONE. If the pointer `stack` is null, writes an error of three parts. If
 * another pointer is null, writes the value null for it; `code` must not be null.
 */
clearway_codec_result clearway_write_standard_envelope(clearway_message *message, const clearway_codec_limits *limits,
                                                    const clearway_envelope *envelope);
clearway_codec_result clearway_write_json_envelope(clearway_message *message, const clearway_codec_limits *limits,
                                                const clearway_envelope *envelope);

// ---- Making and reading values ------------------------------------------------------------------------------------------

/**
 * Appends a value without contents, and returns it. Returns null if the memory is full. Does not copy the value's bytes: the
 * caller keeps them valid. Each of the following functions does the same for one kind of value.
 */
clearway_value *clearway_add(clearway_values *values, clearway_value value);
clearway_value *clearway_add_null(clearway_values *values);
clearway_value *clearway_add_bool(clearway_values *values, bool boolean);
clearway_value *clearway_add_integer(clearway_values *values, int64_t integer);
clearway_value *clearway_add_float64(clearway_values *values, double float64);
clearway_value *clearway_add_text(clearway_values *values, const char *text, size_t size);
/** Appends a list of numbers. `kind` is the kind of the list, and `count` the number of elements. */
clearway_value *clearway_add_numbers(clearway_values *values, clearway_kind kind, const void *elements, size_t count);

/** Begins a list or a map. It contains the values appended until clearway_end. Returns null if the memory is full. */
clearway_value *clearway_begin(clearway_values *values, clearway_kind kind);
/**
 * Ends the list or map `open`. End the inner ones before the outer ones. If a map's last key has no value, does nothing and
 * returns false.
 */
bool clearway_end(clearway_values *values, clearway_value *open);

/**
 * Returns the value of a text key in a map. If the key is repeated, returns its last value. Returns null if the map does not have
 * the key, or if `map` is not a map.
 */
const clearway_value *clearway_find(const clearway_value *map, const char *key);
/** Returns an element of a list of values. Returns null if there is no element `index`. Takes time proportional to `index`. */
const clearway_value *clearway_element(const clearway_value *list, size_t index);
/** Returns whether a value is a text that equals `text`. */
bool clearway_text_is(const clearway_value *value, const char *text);

#ifdef __cplusplus
}
#endif

#endif
