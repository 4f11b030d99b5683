// SPDX-License-Identifier: MIT OR Apache-2.0
// The value notation of conformance/README.md, from and to the codec's values.
#ifndef CLEARWAY_C_NOTATION_H
#define CLEARWAY_C_NOTATION_H

#include "clearway_codec.h"

/** Appends the value that a notation stands for; `plain` makes of numbers what JSON has. False for what is no notation. */
bool notation_read(clearway_values *to, const clearway_value *notation, bool plain);

/** Text that grows. */
typedef struct notation_text {
  char *chars;
  size_t size;
  size_t capacity;
} notation_text;

void notation_put(notation_text *out, const char *chars, size_t size);
void notation_put_string(notation_text *out, const char *chars);
/** The JSON of a value that JSON has. */
void notation_put_json(notation_text *out, const clearway_value *value);
/** The notation of any value. */
void notation_write(notation_text *out, const clearway_value *value);

#endif
