// SPDX-License-Identifier: MIT OR Apache-2.0
// The parts of the program behind `conformance/run c`.
#ifndef CLEARWAY_C_CONFORMANCE_H
#define CLEARWAY_C_CONFORMANCE_H

#include <stddef.h>
#include <stdint.h>

#include "clearway_codec.h"

// Allocates memory for one case. All of it is freed before the next case. The codec itself does not allocate.


/** Allocates memory and sets it to zeros. Ends the process if no memory is left. */
void *pool_take(size_t size);

/** Frees all memory that pool_take has returned. */
void pool_empty(void);

// Converts integers of any size from text. The text is decimal, or hexadecimal with the prefix 0x. A sign `-` may come first.


/** Reads a text as an integer if it fits into 64 bits, else as a big integer. Returns false if the text is not an integer. */
bool integer_read(const uint8_t *text, size_t size, clearway_value *integer);

/**
 * Returns an integer of the narrowest kind: INTEGER if it fits into 64 bits, else BIG_INTEGER with digits in lower case and
 * without leading zeros. Returns values of other kinds unchanged.
 */
clearway_value integer_narrowed(clearway_value value);

/** Returns the float64 nearest to an INTEGER or BIG_INTEGER. */
double integer_as_float64(clearway_value value);

/** Returns the lower 64 bits of the two's complement of an INTEGER or BIG_INTEGER. */
int64_t integer_lower_half(clearway_value value);

// Converts between the codec's values and their notation in JSON. conformance/README.md defines the notation.


/**
 * Appends the value of a notation to `to`. With `plain`, for the JSON codecs, integers beyond 2^53 - 1 become floats. Returns
 * false if the notation is invalid.
 */
bool notation_read(clearway_values *to, const clearway_value *notation, bool plain);

/** A text that grows. */
typedef struct notation_text {
  char *chars;
  size_t size;
  size_t capacity;
} notation_text;

void notation_put(notation_text *out, const char *chars, size_t size);
void notation_put_string(notation_text *out, const char *chars);
/** Appends a value as JSON. JSON must be able to represent the value. */
void notation_put_json(notation_text *out, const clearway_value *value);
/** Appends the notation of a value. */
void notation_write(notation_text *out, const clearway_value *value);

/** Appends the answer to one case. The case and the answer are JSON in one line, without the line's end. */
void answer_line(notation_text *out, const uint8_t *line, size_t size);

#endif
