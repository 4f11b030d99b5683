// SPDX-License-Identifier: MIT OR Apache-2.0
// A window with a running Dart program, and round trips between this thread and that program.
#ifndef CLEARWAY_LAB_FLUTTER_WINDOW_H
#define CLEARWAY_LAB_FLUTTER_WINDOW_H

#include "engine.h"
#include "frame.h"

/** How a message is sent: bytes by the binary messenger; a value by a message channel; a call by a method channel. */
enum sent_by { BY_BYTES, BY_MESSAGE, BY_METHOD };

typedef struct trips {
  uint8_t by;
  uint8_t codec;
  const char *channel;
  /** The method's name. Only with BY_METHOD. */
  const char *method;
  /** The message or the arguments. Null with BY_BYTES. */
  FlValue *value;
  /** The message. Only with BY_BYTES. */
  GBytes *bytes;
  uint32_t count;
  uint32_t in_flight;
} trips;

/** Opens a window with the app in `folder`. Returns null, or why it cannot. Blocks for about a third of a second. */
const char *open_window(const char *folder);
/**
 * Sends `count` messages, at most `in_flight` at the same time, and waits for the answers: for ever if the program answers none. Writes
 * the time of all (float64, nanoseconds), the time of each (float64), and the last answer: a value, or bytes (u32 size, bytes) with
 * BY_BYTES. Returns false, with a text in `out`, if a message was not answered with a value, or if two answers differ.
 */
bool make_trips(const trips *what, writer *out);

#endif
