// SPDX-License-Identifier: MIT OR Apache-2.0
// Numbers as JSON has them, and as JavaScript writes them. Exact, and without the locale that strtod and printf ask.
#ifndef CLEARWAY_C_DECIMAL_H
#define CLEARWAY_C_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

/** The float64 nearest to a number, ties to even. `text` must be a number of JSON, whole. */
double codec_decimal_read(const uint8_t *text, size_t size);

enum { DECIMAL_TEXT_MAX = 32 };

/** The shortest digits that read as the same float64, as JavaScript writes them; it must be finite. Minus zero is 0. */
size_t codec_decimal_write(double value, char text[DECIMAL_TEXT_MAX]);

/** Decimals of a whole number. */
size_t codec_decimal_write_integer(int64_t value, char text[DECIMAL_TEXT_MAX]);

#endif
