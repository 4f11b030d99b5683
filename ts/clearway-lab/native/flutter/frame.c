// SPDX-License-Identifier: MIT OR Apache-2.0
#include "frame.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** No request needs more: the largest holds a message of 1 MB. */
static const uint32_t frame_bytes_max = 64u << 20;

const uint8_t *read_bytes(reader *from, size_t size) {
  if (from->bad || size > from->left) {
    from->bad = true;
    return NULL;
  }
  const uint8_t *bytes = from->at;
  from->at += size;
  from->left -= size;
  return bytes;
}

uint8_t read_u8(reader *from) {
  const uint8_t *bytes = read_bytes(from, 1);
  return bytes == NULL ? 0 : *bytes;
}

uint32_t read_u32(reader *from) {
  uint32_t value = 0;
  const uint8_t *bytes = read_bytes(from, sizeof value);
  if (bytes != NULL) memcpy(&value, bytes, sizeof value);
  return value;
}

char *read_text(reader *from) {
  const uint32_t size = read_u32(from);
  const uint8_t *bytes = read_bytes(from, size);
  if (bytes == NULL || memchr(bytes, 0, size) != NULL) {
    from->bad = true;
    return strdup("");
  }
  return strndup((const char *)bytes, size);
}

void write_bytes(writer *to, const void *bytes, size_t size) {
  if (to->capacity - to->size < size) {
    to->capacity = (to->size + size) * 2;
    to->bytes = realloc(to->bytes, to->capacity);
    if (to->bytes == NULL) {
      fputs("flutter peer: out of memory\n", stderr);
      exit(3);
    }
  }
  if (size > 0) memcpy(to->bytes + to->size, bytes, size);
  to->size += size;
}

void write_u8(writer *to, uint8_t value) { write_bytes(to, &value, sizeof value); }
void write_u32(writer *to, uint32_t value) { write_bytes(to, &value, sizeof value); }
void write_f64(writer *to, double value) { write_bytes(to, &value, sizeof value); }

void write_text(writer *to, const char *text) {
  write_u32(to, (uint32_t)strlen(text));
  write_bytes(to, text, strlen(text));
}

static bool read_all(int input, uint8_t *bytes, size_t size) {
  while (size > 0) {
    const ssize_t got = read(input, bytes, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes += got;
    size -= (size_t)got;
  }
  return true;
}

bool receive(int input, uint8_t **frame, size_t *size) {
  uint32_t announced = 0;
  if (!read_all(input, (uint8_t *)&announced, sizeof announced)) return false;
  if (announced > frame_bytes_max) {
    fprintf(stderr, "flutter peer: a request is too large: bytes=%u, at most %u\n", announced, frame_bytes_max);
    return false;
  }
  // One byte more, so that an empty frame also has memory.
  *frame = malloc((size_t)announced + 1);
  *size = announced;
  if (*frame != NULL && read_all(input, *frame, announced)) return true;
  free(*frame);
  return false;
}

static void write_all(int output, const uint8_t *bytes, size_t size) {
  while (size > 0) {
    const ssize_t put = write(output, bytes, size);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) exit(0);
    bytes += put;
    size -= (size_t)put;
  }
}

void send_answer(int output, uint8_t status, const writer *parts) {
  const uint32_t size = (uint32_t)parts->size + 1;
  write_all(output, (const uint8_t *)&size, sizeof size);
  write_all(output, &status, 1);
  write_all(output, parts->bytes, parts->size);
}
