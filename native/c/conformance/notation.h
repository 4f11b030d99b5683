// SPDX-License-Identifier: MIT OR Apache-2.0
// Converts between the codec's values and their notation in JSON. conformance/README.md defines the notation.
#ifndef CLEARWAY_C_NOTATION_H
#define CLEARWAY_C_NOTATION_H

#include "clearway_codec.h"

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

#endif
