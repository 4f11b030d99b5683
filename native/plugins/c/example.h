// SPDX-License-Identifier: MIT OR Apache-2.0
// Declarations that all files of the example plugin use. README.md in the folder above describes the channels.
#ifndef CLEARWAY_EXAMPLE_H
#define CLEARWAY_EXAMPLE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clearway.h"
#include "clearway_codec.h"

/** The last pointer command that "frames/pointer" received. */
typedef struct pointer {
  uint32_t sequence;
  int32_t x;
  int32_t y;
  uint32_t buttons;
} pointer;

typedef struct ticker ticker;

/** One instance of the plugin. It is the context of every handler and source. */
typedef struct example {
  const clearway_host *host;
  clearway_plugin_id id;
  /** Guards the fields below. Only "memset/held" calls the host while it holds the lock: it allocates and releases memory. */
  pthread_mutex_t lock;
  ticker *tickers;
  pointer pointer;
  /** The memory that "memset/held" fills. */
  clearway_view held;
} example;

/** Each of these functions registers the handlers and sources of one file. Returns CLEARWAY_OK, or the status of the first failure. */
clearway_status add_memset(example *self);
clearway_status add_echo(example *self);
clearway_status add_sensor(example *self);
clearway_status add_frames(example *self);
clearway_status add_image(example *self);
clearway_status add_block(example *self);

/** A handler's channel, and the thread or queue that runs the handler. */
typedef struct entry {
  clearway_text channel;
  uint32_t runs;
  clearway_text queue;
  clearway_on_message on_message;
} entry;

/** Registers handlers with `self` as their context. Returns CLEARWAY_OK, or the status of the first failure. */
clearway_status add_handlers(example *self, const entry *entries, size_t count);

/** Answers with bytes. The host copies the bytes. */
clearway_status reply_bytes(const example *self, clearway_reply reply, const void *bytes, size_t size);

/** Answers with a null message. */
clearway_status reply_null(const example *self, clearway_reply reply);

/**
 * Answers with an error, which has a status and a text for people. Returns the status of that call, which is CLEARWAY_OK if the host
 * accepted the answer.
 */
clearway_status refuse(const example *self, clearway_reply reply, clearway_status status, const char *text);

/** Returns CLOCK_MONOTONIC in nanoseconds. */
uint64_t now_ns(void);

#endif
