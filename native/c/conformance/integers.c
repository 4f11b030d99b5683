// SPDX-License-Identifier: MIT OR Apache-2.0
#include "conformance.h"

#include <string.h>

static int digit_of(uint8_t byte) {
  if (byte >= '0' && byte <= '9') return byte - '0';
  const uint8_t lower = byte | 0x20;
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 99;
}

// Converts a decimal number to hex digits. `digits` has room for `size` digits and must contain zeros. The time grows with the
// square of `size`, which is acceptable because cases are small.
static bool hex_of_decimals(const uint8_t *text, size_t size, uint8_t *digits) {
  for (size_t at = 0; at < size; at++) {
    int carry = digit_of(text[at]);
    if (carry > 9) return false;
    for (size_t digit = size; digit-- > 0; carry /= 16) {
      carry += digits[digit] * 10;
      digits[digit] = (uint8_t)(carry % 16);
    }
  }
  for (size_t at = 0; at < size; at++) digits[at] = (uint8_t)"0123456789abcdef"[digits[at]];
  return true;
}

bool integer_read(const uint8_t *text, size_t size, clearway_value *integer) {
  const size_t sign = size > 0 && text[0] == '-';
  const bool hex = size > sign + 2 && text[sign] == '0' && text[sign + 1] == 'x';
  const uint8_t *from = text + sign + (hex ? 2 : 0);
  const size_t count = size - sign - (hex ? 2 : 0);
  if (count == 0) return false;
  // The memory is large enough: a number has at most as many hex digits as decimal digits.
  uint8_t *digits = pool_take(count + 1);
  if (hex) {
    for (size_t at = 0; at < count; at++)
      if (digit_of(from[at]) > 15) return false;
    memcpy(digits + sign, from, count);
  } else if (!hex_of_decimals(from, count, digits + sign)) {
    return false;
  }
  if (sign) digits[0] = '-';
  *integer = integer_narrowed((clearway_value){.kind = CLEARWAY_KIND_BIG_INTEGER, .count = count + sign, .as.bytes = digits});
  return true;
}

clearway_value integer_narrowed(clearway_value value) {
  if (value.kind != CLEARWAY_KIND_BIG_INTEGER) return value;
  const size_t sign = value.as.bytes[0] == '-';
  const uint8_t *from = value.as.bytes + sign;
  size_t count = value.count - sign;
  while (count > 1 && *from == '0') from++, count--;
  if (count <= 16) {
    const uint64_t magnitude = (uint64_t)integer_lower_half((clearway_value){
        .kind = CLEARWAY_KIND_BIG_INTEGER, .count = count, .as.bytes = from});
    if (magnitude <= (uint64_t)INT64_MAX + sign)
      return (clearway_value){.kind = CLEARWAY_KIND_INTEGER, .as.integer = (int64_t)(sign ? ~magnitude + 1 : magnitude)};
  }
  uint8_t *digits = pool_take(count + 1);
  digits[0] = '-';
  for (size_t at = 0; at < count; at++) digits[sign + at] = (uint8_t)"0123456789abcdef"[digit_of(from[at])];
  return (clearway_value){.kind = CLEARWAY_KIND_BIG_INTEGER, .count = count + sign, .as.bytes = digits};
}

int64_t integer_lower_half(clearway_value value) {
  if (value.kind == CLEARWAY_KIND_INTEGER) return value.as.integer;
  const size_t sign = value.as.bytes[0] == '-';
  uint64_t bits = 0;
  for (size_t at = sign; at < value.count; at++) bits = bits << 4 | (uint64_t)digit_of(value.as.bytes[at]);
  return (int64_t)(sign ? ~bits + 1 : bits);
}

double integer_as_float64(clearway_value value) {
  value = integer_narrowed(value);
  if (value.kind == CLEARWAY_KIND_INTEGER) return (double)value.as.integer;
  const size_t sign = value.as.bytes[0] == '-';
  // Converts the first 16 digits, which are 64 bits. The lowest bit is also set if any later digit is not 0. The conversion to
  // double then rounds once, and correctly.
  uint64_t first = 0;
  size_t at = sign;
  for (; at < value.count && at < sign + 16; at++) first = first << 4 | (uint64_t)digit_of(value.as.bytes[at]);
  double scale = 1;
  for (; at < value.count; at++, scale *= 16)
    if (value.as.bytes[at] != '0') first |= 1;
  return (sign ? -(double)first : (double)first) * scale;
}
