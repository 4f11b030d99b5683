// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef CLEARWAY_C_READ_STANDARD_H
#define CLEARWAY_C_READ_STANDARD_H

#include "wire.h"

/** A position in a message. `failed` keeps the first error; nothing is read after it. */
typedef struct reader {
  const uint8_t *bytes;
  size_t size;
  size_t at;
  uint32_t depth_max;
  /** How many more values the message's lists and maps may announce. */
  uint64_t items_left;
  clearway_values *values;
  clearway_codec_result failed;
} reader;

/** Makes a reader at a message's first byte. */
reader codec_reader(const uint8_t *bytes, size_t size, const clearway_codec_limits *limits, clearway_values *values);

/** Reads a value with its type byte, and sets its index among the values. Returns false if the reader has failed. */
bool codec_read_value(reader *in, size_t *index);

/** Keeps an error. Returns false. */
bool codec_refuse(reader *in, clearway_codec_code code, size_t offset);

/** Returns the final result: the error, or `trailing-bytes` unless everything was read. */
clearway_codec_result codec_finish(reader *in);

#endif
