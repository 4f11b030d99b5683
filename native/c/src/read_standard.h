// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef CLEARWAY_C_READ_STANDARD_H
#define CLEARWAY_C_READ_STANDARD_H

#include "wire.h"

/** A place in a message. The first refusal is kept in `failed`; nothing is read after it. */
typedef struct reader {
  const uint8_t *bytes;
  size_t size;
  size_t at;
  uint32_t depth_max;
  /** How many values more the message's lists and maps may announce. */
  uint64_t items_left;
  clearway_values *values;
  clearway_codec_result failed;
} reader;

/** A reader at a message's first byte. */
reader codec_reader(const uint8_t *bytes, size_t size, const clearway_codec_limits *limits, clearway_values *values);

/** Reads a value with its type byte; its index among the values. False where the reader has failed. */
bool codec_read_value(reader *in, size_t *index);

/** Keeps a refusal. Returns false. */
bool codec_refuse(reader *in, clearway_codec_code code, size_t offset);

/** The answer at the end: the refusal, or `trailing-bytes` unless everything was read. */
clearway_codec_result codec_finish(reader *in);

#endif
