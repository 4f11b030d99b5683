// SPDX-License-Identifier: MIT OR Apache-2.0
// Writers for the parts of messages. Each counts the bytes that it writes, and writes them only if there is room.
#ifndef CLEARWAY_C_MESSAGE_H
#define CLEARWAY_C_MESSAGE_H

#include <string.h>

#include "wire.h"

static inline void put(clearway_message *message, const void *bytes, size_t size) {
  if (size > 0 && message->size <= message->capacity && size <= message->capacity - message->size)
    memcpy(message->bytes + message->size, bytes, size);
  // A message of this size cannot exist; the size stays larger than any capacity.
  message->size = size > SIZE_MAX - message->size ? SIZE_MAX : message->size + size;
}

static inline void put_byte(clearway_message *message, uint8_t byte) { put(message, &byte, 1); }

/** Returns the result of a writer that refused nothing. */
static inline clearway_codec_result written(const clearway_message *message) {
  return message->size <= message->capacity ? done : result(CLEARWAY_CODEC_NO_ROOM, message->size);
}

/** Appends a value with its type byte. Padding counts from the message's first byte. */
clearway_codec_result codec_put_value(clearway_message *message, uint32_t depth_max, uint32_t depth, const clearway_value *value);

/** Appends the JSON of a value. */
clearway_codec_result codec_put_json(clearway_message *message, uint32_t depth_max, uint32_t depth, const clearway_value *value);

static inline uint32_t depth_max_of(const clearway_codec_limits *limits) {
  return (limits == NULL ? &clearway_codec_default_limits : limits)->depth_max;
}

#endif
