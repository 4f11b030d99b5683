// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads JSON's numbers, and writes numbers as JavaScript does. Exact, and independent of the locale that strtod and printf use.
#ifndef CLEARWAY_C_DECIMAL_H
#define CLEARWAY_C_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

/** Returns the float64 nearest to a number, ties to even. `text` must be exactly one JSON number. */
double codec_decimal_read(const uint8_t *text, size_t size);

enum { DECIMAL_TEXT_MAX = 32 };

/**
 * Writes the shortest digits that read as the same float64, as JavaScript does; returns their length. `value` must be finite.
 * Writes minus zero as 0.
 */
size_t codec_decimal_write(double value, char text[DECIMAL_TEXT_MAX]);

/** Writes an integer in decimals; returns the length. */
size_t codec_decimal_write_integer(int64_t value, char text[DECIMAL_TEXT_MAX]);

#endif
