// SPDX-License-Identifier: MIT OR Apache-2.0
// Converts between the value notation of conformance/README.md and the codec's values.
#ifndef CLEARWAY_C_NOTATION_H
#define CLEARWAY_C_NOTATION_H

#include "clearway_codec.h"

/** Appends a notation's value. With `plain`, numbers become those that JSON has. Returns false for an invalid notation. */
bool notation_read(clearway_values *to, const clearway_value *notation, bool plain);

/** A growing text. */
typedef struct notation_text {
  char *chars;
  size_t size;
  size_t capacity;
} notation_text;

void notation_put(notation_text *out, const char *chars, size_t size);
void notation_put_string(notation_text *out, const char *chars);
/** Appends a value as JSON. The value must have a JSON form. */
void notation_put_json(notation_text *out, const clearway_value *value);
/** Appends the notation of any value. */
void notation_write(notation_text *out, const clearway_value *value);

#endif
