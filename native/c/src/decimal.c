// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads and writes numbers in decimals.

#include <float.h>
#include <stdbool.h>
#include <string.h>

#include "decimal.h"

// Integers of a fixed size, on the stack. Has only the operations for exact conversion between decimals and float64.
// The largest number occurs in reading: the divisor 10^1131, for a value of 801 digits that is not below 10^-330. This divisor
// has 3758 bits, and the shift before the division adds one bit. 132 words have 4224 bits.
enum { BIG_WORDS = 132 };

typedef struct big {
  uint32_t words[BIG_WORDS];
  int used;
} big;

static void big_set(big *number, uint64_t value) {
  number->words[0] = (uint32_t)value;
  number->words[1] = (uint32_t)(value >> 32);
  number->used = value >> 32 ? 2 : value != 0;
}

static void big_multiply_add(big *number, uint32_t factor, uint32_t addend) {
  uint64_t carry = addend;
  for (int at = 0; at < number->used; at++) {
    carry += (uint64_t)number->words[at] * factor;
    number->words[at] = (uint32_t)carry;
    carry >>= 32;
  }
  if (carry != 0) number->words[number->used++] = (uint32_t)carry;
}

static void big_multiply_power_of_ten(big *number, int power) {
  for (; power >= 9; power -= 9) big_multiply_add(number, 1000000000u, 0);
  uint32_t factor = 1;
  while (power-- > 0) factor *= 10;
  big_multiply_add(number, factor, 0);
}

static void big_shift_left(big *number, int bits) {
  if (number->used == 0 || bits == 0) return;
  const int words = bits / 32;
  const int rest = bits % 32;
  const int used = number->used;
  // Writes the bits that overflow the top word only if they are not 0, so that the write stays within `words`.
  const uint32_t over = rest == 0 ? 0 : number->words[used - 1] >> (32 - rest);
  if (over != 0) number->words[used + words] = over;
  for (int at = used - 1; at >= 0; at--) {
    const uint32_t below = at > 0 && rest != 0 ? number->words[at - 1] >> (32 - rest) : 0;
    number->words[at + words] = number->words[at] << rest | below;
  }
  for (int at = 0; at < words; at++) number->words[at] = 0;
  number->used = used + words + (over != 0);
}

static int big_bits(const big *number) {
  if (number->used == 0) return 0;
  int bits = (number->used - 1) * 32;
  for (uint32_t top = number->words[number->used - 1]; top != 0; top >>= 1) bits++;
  return bits;
}

static int big_compare(const big *a, const big *b) {
  if (a->used != b->used) return a->used < b->used ? -1 : 1;
  for (int at = a->used - 1; at >= 0; at--)
    if (a->words[at] != b->words[at]) return a->words[at] < b->words[at] ? -1 : 1;
  return 0;
}

/** Subtracts `b` from `a`. `b` must not be larger than `a`. */
static void big_subtract(big *a, const big *b) {
  uint64_t borrow = 0;
  for (int at = 0; at < a->used; at++) {
    const uint64_t word = (uint64_t)a->words[at] - (at < b->used ? b->words[at] : 0) - borrow;
    a->words[at] = (uint32_t)word;
    borrow = word >> 63;
  }
  while (a->used > 0 && a->words[a->used - 1] == 0) a->used--;
}

/** Compares a + b with c. */
static int big_compare_sum(const big *a, const big *b, const big *c) {
  big sum = *a;
  uint64_t carry = 0;
  const int used = a->used > b->used ? a->used : b->used;
  for (int at = 0; at < used; at++) {
    carry += (uint64_t)(at < a->used ? a->words[at] : 0) + (at < b->used ? b->words[at] : 0);
    sum.words[at] = (uint32_t)carry;
    carry >>= 32;
  }
  sum.used = used;
  if (carry != 0) sum.words[sum.used++] = (uint32_t)carry;
  return big_compare(&sum, c);
}

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
