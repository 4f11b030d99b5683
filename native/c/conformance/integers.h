// SPDX-License-Identifier: MIT OR Apache-2.0
// Converts integers of any size from text. The text is decimal, or hexadecimal with the prefix 0x. A sign `-` may come first.
#ifndef CLEARWAY_C_INTEGERS_H
#define CLEARWAY_C_INTEGERS_H

#include "clearway_codec.h"

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

#endif
