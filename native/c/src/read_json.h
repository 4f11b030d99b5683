// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef CLEARWAY_C_READ_JSON_H
#define CLEARWAY_C_READ_JSON_H

#include "wire.h"

/** A position in a JSON message, and the first error. */
typedef struct json_reader {
  const uint8_t *bytes;
  size_t size;
  size_t at;
  uint32_t depth_max;
  clearway_values *values;
  clearway_codec_result failed;
} json_reader;

static inline bool codec_json_is_space(uint8_t byte) { return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r'; }

/** Reads one value, which must be the whole message. Returns false if the reader has failed. */
bool codec_json_read_value(json_reader *in);

/** Reads a message with the given maximum depth. Sets `*value` to the value, or to null after an error. */
clearway_codec_result codec_json_read(const uint8_t *bytes, size_t size, uint32_t depth_max, clearway_values *values,
                                const clearway_value **value);

/** Reads a text in quotes. A text without escapes points into the message. A text with escapes is copied to `values->text`. */
clearway_codec_result codec_json_read_text(json_reader *in, clearway_value *text);

/** Reads a number. It becomes an integer if it is whole and exact, else a float64. */
clearway_codec_result codec_json_read_number(json_reader *in, clearway_value *number);

#endif
