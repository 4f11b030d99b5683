// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads numbers of JSON, and writes numbers as JavaScript does. The conversions are exact. They do not depend on the locale, as
// strtod and printf do.
#ifndef CLEARWAY_C_DECIMAL_H
#define CLEARWAY_C_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

/** Returns the float64 nearest to a number. Rounds ties to even. `text` must be exactly one JSON number. */
double codec_decimal_read(const uint8_t *text, size_t size);

/** The size of the memory for a written number, in bytes. */
enum { DECIMAL_TEXT_MAX = 32 };

/**
 * Writes a float64 as JavaScript does: with the fewest digits that read as the same value. Returns the number of bytes. `value`
 * must be finite. Writes minus zero as 0.
 */
size_t codec_decimal_write(double value, char text[DECIMAL_TEXT_MAX]);

/** Writes an integer in decimals. Returns the number of bytes. */
size_t codec_decimal_write_integer(int64_t value, char text[DECIMAL_TEXT_MAX]);

#endif
