// SPDX-License-Identifier: MIT OR Apache-2.0
#include <string.h>

#include "wire.h"

// Returns the size of the UTF-8 sequence at `bytes`, or 0 if it is ill-formed. Follows Unicode 16, table 3-7: overlong forms,
// surrogates and values beyond U+10FFFF are ill-formed.
static size_t sequence(const uint8_t *bytes, size_t left) {
  const uint8_t first = bytes[0];
  if (first < 0x80) return 1;
  const size_t size = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (size == 0 || size > left) return 0;
  const uint8_t min = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const uint8_t max = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (bytes[1] < min || bytes[1] > max) return 0;
  for (size_t next = 2; next < size; next++)
    if (bytes[next] < 0x80 || bytes[next] > 0xbf) return 0;
  return size;
}

size_t codec_utf8_valid_until(const uint8_t *bytes, size_t start, size_t end) {
  size_t at = start;
  while (at < end) {
    // Skips eight bytes of ASCII at a time, because most text is ASCII.
    uint64_t eight;
    if (end - at >= sizeof eight) {
      memcpy(&eight, bytes + at, sizeof eight);
      if ((eight & 0x8080808080808080u) == 0) {
        at += sizeof eight;
        continue;
      }
    }
    const size_t size = sequence(bytes + at, end - at);
    if (size == 0) return at;
    at += size;
  }
  return end;
}

clearway_codec_result clearway_check_text(const uint8_t *bytes, size_t size) {
  const size_t valid = codec_utf8_valid_until(bytes, 0, size);
  return valid == size ? done : result(CLEARWAY_CODEC_BAD_UTF8, valid);
}
