// SPDX-License-Identifier: MIT OR Apache-2.0
// The bytes of a request and of its answer. A frame is its size (u32) and that many bytes. Numbers are little-endian.
//
//   request   u8 operation, then its parts: see main.c
//   answer    u8 status (0: the parts that were asked for; 1: a text that says what was wrong), then the parts
//
// Reading never goes beyond the end of a frame: it marks the frame as bad, and gives zeros from there on.
#ifndef CLEARWAY_LAB_FLUTTER_FRAME_H
#define CLEARWAY_LAB_FLUTTER_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct reader {
  const uint8_t *at;
  size_t left;
  bool bad;
} reader;

/** Grows as it is written. Ends the process if there is no memory. */
typedef struct writer {
  uint8_t *bytes;
  size_t size;
  size_t capacity;
} writer;

/** Returns the next `size` bytes. They belong to the frame. */
const uint8_t *read_bytes(reader *from, size_t size);
uint8_t read_u8(reader *from);
uint32_t read_u32(reader *from);
/** Returns a text as a C string that the caller frees: u32 size, bytes. A text with a NUL is bad. */
char *read_text(reader *from);

void write_bytes(writer *to, const void *bytes, size_t size);
void write_u8(writer *to, uint8_t value);
void write_u32(writer *to, uint32_t value);
void write_f64(writer *to, double value);
void write_text(writer *to, const char *text);

/** Reads the next request into `frame`, which the caller frees. Returns false at the end of the input, or if the frame is too large. */
bool receive(int input, uint8_t **frame, size_t *size);
/** Writes one answer. Ends the process if the reader is gone. */
void send_answer(int output, uint8_t status, const writer *parts);

#endif
