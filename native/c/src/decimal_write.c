// SPDX-License-Identifier: MIT OR Apache-2.0
#include <stdbool.h>
#include <string.h>

#include "big.h"
#include "decimal.h"

// Finds the shortest digits of a positive float64 by exact arithmetic (Steele and White 1990, and Dragon4). Several decimals read
// as the same float64. The function chooses those with the fewest digits, and the nearest of these. Returns the number of
// digits. The value is 0.d1d2… * 10^point.
static int shortest(double value, char digits[20], int *point) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  const int biased = (int)(bits >> 52 & 0x7ff);
  const uint64_t fraction = bits & (((uint64_t)1 << 52) - 1);
  const uint64_t mantissa = biased == 0 ? fraction : fraction | (uint64_t)1 << 52;
  const int exponent = biased == 0 ? -1074 : biased - 1075;
  const bool even = (mantissa & 1) == 0;
  // If the value is a power of two, the next smaller float64 is half as far away as the next larger one.
  const int uneven = fraction == 0 && biased > 1;

  // The value is rest / scale. The distance to the half-way point is above / scale upwards, and below / scale downwards.
  big rest, scale, above, below;
  big_set(&rest, mantissa);
  big_set(&scale, 1);
  big_set(&above, 1);
  big_set(&below, 1);
  big_shift_left(&rest, (exponent > 0 ? exponent : 0) + 1 + uneven);
  big_shift_left(&scale, (exponent < 0 ? -exponent : 0) + 1 + uneven);
  big_shift_left(&above, (exponent > 0 ? exponent : 0) + uneven);
  big_shift_left(&below, exponent > 0 ? exponent : 0);

  // Estimates the power of ten. 78913 / 2^18 is slightly less than log10(2), and the loop below corrects the estimate.
  int bit_length = 0;
  for (uint64_t left = mantissa; left != 0; left >>= 1) bit_length++;
  int power = (int)(((int64_t)(exponent + bit_length - 1) * 78913) >> 18);
  if (power >= 0) {
    big_multiply_power_of_ten(&scale, power);
  } else {
    big_multiply_power_of_ten(&rest, -power);
    big_multiply_power_of_ten(&above, -power);
    big_multiply_power_of_ten(&below, -power);
  }
  while (big_compare_sum(&rest, &above, &scale) >= (even ? 0 : 1)) {
    big_multiply_add(&scale, 10, 0);
    power++;
  }
  *point = power;

  int count = 0;
  for (;;) {
    big_multiply_add(&rest, 10, 0);
    big_multiply_add(&above, 10, 0);
    big_multiply_add(&below, 10, 0);
    int digit = 0;
    while (big_compare(&rest, &scale) >= 0) {
      big_subtract(&rest, &scale);
      digit++;
    }
    const bool low = big_compare(&rest, &below) < (even ? 1 : 0);
    const bool high = big_compare_sum(&rest, &above, &scale) > (even ? -1 : 0);
    if (low || high) {
      const int half = big_compare_sum(&rest, &rest, &scale);
      const bool up = low && high ? half > 0 || (half == 0 && digit % 2 != 0) : high;
      digits[count++] = (char)('0' + digit + up);
      return count;
    }
    digits[count++] = (char)('0' + digit);
  }
}

// Lays out the digits as ECMAScript's Number::toString does. The value is 0.d1d2… * 10^point. Returns the number of bytes.
static size_t lay_out(const char *digits, int count, int point, char *text) {
  char *to = text;
  if (point > 0 && point <= 21) {
    for (int at = 0; at < count || at < point; at++) {
      if (at == point) *to++ = '.';
      *to++ = at < count ? digits[at] : '0';
    }
  } else if (point > -6 && point <= 0) {
    *to++ = '0';
    *to++ = '.';
    for (int at = point; at < 0; at++) *to++ = '0';
    for (int at = 0; at < count; at++) *to++ = digits[at];
  } else {
    *to++ = digits[0];
    if (count > 1) *to++ = '.';
    for (int at = 1; at < count; at++) *to++ = digits[at];
    *to++ = 'e';
    *to++ = point > 0 ? '+' : '-';
    // The absolute value of the exponent: at most 324 with a minus, and at most 308 with a plus.
    const int shown = point > 0 ? point - 1 : 1 - point;
    if (shown >= 100) *to++ = (char)('0' + shown / 100);
    if (shown >= 10) *to++ = (char)('0' + shown / 10 % 10);
    *to++ = (char)('0' + shown % 10);
  }
  return (size_t)(to - text);
}

size_t codec_decimal_write_integer(int64_t value, char text[DECIMAL_TEXT_MAX]) {
  char reversed[20];
  size_t count = 0;
  uint64_t left = value < 0 ? ~(uint64_t)value + 1 : (uint64_t)value;
  do reversed[count++] = (char)('0' + left % 10);
  while ((left /= 10) != 0);
  size_t size = 0;
  if (value < 0) text[size++] = '-';
  while (count > 0) text[size++] = reversed[--count];
  return size;
}

size_t codec_decimal_write(double value, char text[DECIMAL_TEXT_MAX]) {
  // The most frequent values are integers up to 2^53. Their decimal form is already the shortest one.
  if (value >= -9007199254740992.0 && value <= 9007199254740992.0 && value == (double)(int64_t)value)
    return codec_decimal_write_integer((int64_t)value, text);
  size_t size = 0;
  if (value < 0) text[size++] = '-';
  char digits[20];
  int point;
  const int count = shortest(value < 0 ? -value : value, digits, &point);
  return size + lay_out(digits, count, point, text + size);
}
