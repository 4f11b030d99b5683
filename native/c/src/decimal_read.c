// SPDX-License-Identifier: MIT OR Apache-2.0
#include <float.h>
#include <stdbool.h>
#include <string.h>

#include "big.h"
#include "decimal.h"

// The maximum number of digits that are kept. A number half-way between two float64 has at most 767 significant digits. So after
// 800 digits, rounding depends only on whether any further digit is not 0.
enum { DIGITS_MAX = 800 };

typedef struct decimal {
  uint8_t digits[DIGITS_MAX + 1];
  int count;
  /** The power of ten by which the digits, read as an integer, are multiplied. */
  int64_t exponent;
  bool negative;
} decimal;

static bool is_digit(uint8_t byte) { return byte >= '0' && byte <= '9'; }

static void add_digit(decimal *number, uint8_t digit, bool fraction) {
  if (number->count == 0 && digit == '0') {
    number->exponent -= fraction;
  } else if (number->count < DIGITS_MAX) {
    number->digits[number->count++] = digit - '0';
    number->exponent -= fraction;
  } else {
    if (digit != '0' && number->count == DIGITS_MAX) {
      number->digits[number->count++] = 1;
      number->exponent--;
    }
    number->exponent += !fraction;
  }
}

static void parse(const uint8_t *text, size_t size, decimal *number) {
  size_t at = 0;
  *number = (decimal){.negative = text[0] == '-'};
  if (number->negative) at++;
  for (; at < size && is_digit(text[at]); at++) add_digit(number, text[at], false);
  if (at < size && text[at] == '.')
    for (at++; at < size && is_digit(text[at]); at++) add_digit(number, text[at], true);
  if (at >= size) return;
  at++;
  const bool below = text[at] == '-';
  if (below || text[at] == '+') at++;
  int64_t exponent = 0;
  // Adds no more digits to an exponent of 2^50 or more, so that the exponent cannot overflow. The result is still correct: a text
  // has fewer than 2^48 bytes, and so few digits cannot compensate for such an exponent.
  for (; at < size; at++)
    if (exponent < (int64_t)1 << 50) exponent = exponent * 10 + (text[at] - '0');
  number->exponent += below ? -exponent : exponent;
}

// Returns the bits of the positive float64 nearest to `over` / `under`. Changes both arguments.
static uint64_t nearest(big *over, big *under) {
  int exponent = big_bits(over) - big_bits(under);
  if (exponent < 0)
    big_shift_left(over, -exponent);
  else
    big_shift_left(under, exponent);
  if (big_compare(over, under) < 0) {
    big_shift_left(over, 1);
    exponent--;
  }
  // Now 1 <= over / under < 2. The value is over / under * 2^exponent.
  if (exponent > 1023) return (uint64_t)2047 << 52;
  const int bits = exponent >= -1022 ? 53 : 53 + 1022 + exponent;
  if (bits < 0) return 0;
  uint64_t mantissa = 0;
  for (int bit = 0; bit < bits; bit++) {
    mantissa <<= 1;
    if (big_compare(over, under) >= 0) {
      mantissa |= 1;
      big_subtract(over, under);
    }
    big_shift_left(over, 1);
  }
  const int half = big_compare(over, under);
  // Rounding up the largest mantissa carries into the exponent. The result is then the next float64, which may be infinity.
  if (half > 0 || (half == 0 && (mantissa & 1))) mantissa++;
  return bits == 53 ? mantissa + ((uint64_t)(exponent + 1022) << 52) : mantissa;
}

// Returns the nearest float64 if one operation computes it, else a negative number. Ignores the sign of the number.
static double fast_or_less(const decimal *number) {
#if FLT_EVAL_METHOD == 0
  // The digits and the power of ten are exact float64 values, so their product or quotient is rounded only once.
  static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  if (number->count <= 15 && number->exponent >= -22 && number->exponent <= 22) {
    uint64_t digits = 0;
    for (int at = 0; at < number->count; at++) digits = digits * 10 + number->digits[at];
    return number->exponent < 0 ? (double)digits / tens[-number->exponent] : (double)digits * tens[number->exponent];
  }
#endif
  return -1;
}

double codec_decimal_read(const uint8_t *text, size_t size) {
  decimal number;
  parse(text, size, &number);
  double value = number.count == 0 ? 0 : fast_or_less(&number);
  if (value < 0) {
    uint64_t bits;
    // The value is less than 10^power. Values outside of the range of float64 need no division.
    const int64_t power = number.count + number.exponent;
    if (power > 310) {
      bits = (uint64_t)2047 << 52;
    } else if (power < -330) {
      bits = 0;
    } else {
      big over = {.used = 0};
      big under;
      for (int at = 0; at < number.count; at++) {
        big_multiply_add(&over, 10, number.digits[at]);
      }
      big_set(&under, 1);
      big_multiply_power_of_ten(number.exponent < 0 ? &under : &over,
                                (int)(number.exponent < 0 ? -number.exponent : number.exponent));
      bits = nearest(&over, &under);
    }
    memcpy(&value, &bits, sizeof value);
  }
  return number.negative ? -value : value;
}
