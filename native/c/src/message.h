// SPDX-License-Identifier: MIT OR Apache-2.0
// Writers for the parts of messages. Each writer adds its bytes to the message's size, and writes them only if they fit.
#ifndef CLEARWAY_C_MESSAGE_H
#define CLEARWAY_C_MESSAGE_H

#include <string.h>

#include "wire.h"

static inline void put(clearway_message *message, const void *bytes, size_t size) {
  if (size > 0 && message->size <= message->capacity && size <= message->capacity - message->size)
    memcpy(message->bytes + message->size, bytes, size);
  // If the size would overflow, sets it to SIZE_MAX. No message can be that large, so the result is CLEARWAY_CODEC_NO_ROOM.
  message->size = size > SIZE_MAX - message->size ? SIZE_MAX : message->size + size;
}

static inline void put_byte(clearway_message *message, uint8_t byte) { put(message, &byte, 1); }

/** Returns the final result of a writer: CLEARWAY_CODEC_OK, or CLEARWAY_CODEC_NO_ROOM if the message does not fit. */
static inline clearway_codec_result written(const clearway_message *message) {
  return message->size <= message->capacity ? done : result(CLEARWAY_CODEC_NO_ROOM, message->size);
}

/**
 * Appends a value with its type byte. `depth` is the number of lists and maps around the value. Alignment counts from the
 * message's first byte.
 */
clearway_codec_result codec_put_value(clearway_message *message, uint32_t depth_max, uint32_t depth, const clearway_value *value);

/** Appends a value as JSON. `depth` is the number of lists and maps around the value. */
clearway_codec_result codec_put_json(clearway_message *message, uint32_t depth_max, uint32_t depth, const clearway_value *value);

static inline uint32_t depth_max_of(const clearway_codec_limits *limits) {
  return (limits == NULL ? &clearway_codec_default_limits : limits)->depth_max;
}

#endif
