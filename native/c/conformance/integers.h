// SPDX-License-Identifier: MIT OR Apache-2.0
// Integers of any size as text: `-`, `0x` and hex digits, or decimals.
#ifndef CLEARWAY_C_INTEGERS_H
#define CLEARWAY_C_INTEGERS_H

#include "clearway_codec.h"

/** Reads decimals, `0x…` or `-0x…` as an integer if it has 64 bits, else as a big integer. Returns false for any other text. */
bool integer_read(const uint8_t *text, size_t size, clearway_value *integer);

/** Returns the value as an integer if it has 64 bits, else as a big integer in lower case without leading zeros. */
clearway_value integer_narrowed(clearway_value value);

/** Returns the float64 nearest to an integer of either kind. */
double integer_as_float64(clearway_value value);

/** Returns the lower 64 bits. */
int64_t integer_lower_half(clearway_value value);

#endif
