// SPDX-License-Identifier: MIT OR Apache-2.0
// Integers of a fixed size, on the stack. Has only the operations for exact conversion between decimals and float64.
#ifndef CLEARWAY_C_BIG_H
#define CLEARWAY_C_BIG_H

#include <stdint.h>

// The largest number occurs in reading: the divisor 10^1131, for a value of 801 digits that is not below 10^-330. This divisor
// has 3758 bits, and the shift before the division adds one bit. 132 words have 4224 bits.
enum { BIG_WORDS = 132 };

typedef struct big {
  uint32_t words[BIG_WORDS];
  int used;
} big;

static inline void big_set(big *number, uint64_t value) {
  number->words[0] = (uint32_t)value;
  number->words[1] = (uint32_t)(value >> 32);
  number->used = value >> 32 ? 2 : value != 0;
}

static inline void big_multiply_add(big *number, uint32_t factor, uint32_t addend) {
  uint64_t carry = addend;
  for (int at = 0; at < number->used; at++) {
    carry += (uint64_t)number->words[at] * factor;
    number->words[at] = (uint32_t)carry;
    carry >>= 32;
  }
  if (carry != 0) number->words[number->used++] = (uint32_t)carry;
}

static inline void big_multiply_power_of_ten(big *number, int power) {
  for (; power >= 9; power -= 9) big_multiply_add(number, 1000000000u, 0);
  uint32_t factor = 1;
  while (power-- > 0) factor *= 10;
  big_multiply_add(number, factor, 0);
}

static inline void big_shift_left(big *number, int bits) {
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

static inline int big_bits(const big *number) {
  if (number->used == 0) return 0;
  int bits = (number->used - 1) * 32;
  for (uint32_t top = number->words[number->used - 1]; top != 0; top >>= 1) bits++;
  return bits;
}

static inline int big_compare(const big *a, const big *b) {
  if (a->used != b->used) return a->used < b->used ? -1 : 1;
  for (int at = a->used - 1; at >= 0; at--)
    if (a->words[at] != b->words[at]) return a->words[at] < b->words[at] ? -1 : 1;
  return 0;
}

/** Subtracts `b` from `a`. `b` must not be larger than `a`. */
static inline void big_subtract(big *a, const big *b) {
  uint64_t borrow = 0;
  for (int at = 0; at < a->used; at++) {
    const uint64_t word = (uint64_t)a->words[at] - (at < b->used ? b->words[at] : 0) - borrow;
    a->words[at] = (uint32_t)word;
    borrow = word >> 63;
  }
  while (a->used > 0 && a->words[a->used - 1] == 0) a->used--;
}

/** Compares a + b with c. */
static inline int big_compare_sum(const big *a, const big *b, const big *c) {
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

#endif
