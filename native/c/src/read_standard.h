// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef CLEARWAY_C_READ_STANDARD_H
#define CLEARWAY_C_READ_STANDARD_H

#include "wire.h"

/** A position in a message, and the first error in `failed`. After an error, the functions read no more. */
typedef struct reader {
  const uint8_t *bytes;
  size_t size;
  size_t at;
  uint32_t depth_max;
  /** The number of values that further lists and maps of the message may announce. */
  uint64_t items_left;
  clearway_values *values;
  clearway_codec_result failed;
} reader;

/** Makes a reader at the first byte of a message. Fails on a big-endian host. */
reader codec_reader(const uint8_t *bytes, size_t size, const clearway_codec_limits *limits, clearway_values *values);

/** Reads a value with its type byte. Sets `*index` to its index in `values->at`. Returns false if the reader has failed. */
bool codec_read_value(reader *in, size_t *index);

/** Records an error. Always returns false. */
bool codec_refuse(reader *in, clearway_codec_code code, size_t offset);

/** Returns the final result: the first error, else CLEARWAY_CODEC_TRAILING_BYTES if bytes are left, else CLEARWAY_CODEC_OK. */
clearway_codec_result codec_finish(reader *in);

#endif
