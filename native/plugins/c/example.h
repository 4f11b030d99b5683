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

// Tickers. A ticker emits the events of one stream at a given rate, on its own thread.

/** The events that a ticker emits. */
typedef struct tick_source {
  /** Makes an event and emits it. `is_retry` is true if the previous attempt for the same event returned CLEARWAY_FULL. */
  clearway_status (*emit)(void *state, clearway_stream stream, uint64_t number, bool is_retry);
  /** Frees the state. Called once: by the ticker's thread when it ends, or by `start_ticker` if the ticker does not start. */
  void (*drop)(void *state);
  void *state;
  /** The number of events per second. With 0, the ticker emits whenever the stream has room. */
  uint32_t rate;
  /** The number of events after which the stream ends. With 0, the stream has no end. */
  uint64_t count;
  /** Whether the ticker emits events late if it missed their time. Otherwise it skips them. */
  bool catches_up;
} tick_source;

/** Starts a ticker for a stream. Takes ownership of the source's state, and drops the state if the ticker does not start. */
clearway_status start_ticker(example *self, clearway_stream stream, const tick_source *source);

/** The callbacks `on_cancel` and `on_room` of a source. The source's context must be the `example`. */
void ticker_cancelled(void *context, clearway_stream stream);
void ticker_has_room(void *context, clearway_stream stream);

/** Stops all tickers. Blocks until their threads have ended. */
void stop_tickers(example *self);

/**
 * Reads an integer from a listener's arguments. Sets `*value` to the integer, or to `default_value` if the arguments have no value for
 * the key. Returns false if the value is not an integer, or is not from `min` to `max`.
 */
bool argument(const clearway_value *arguments, const char *key, int64_t min, int64_t max, int64_t default_value, int64_t *value);

/**
 * Reads a listener's arguments, a map or null. `values` must have room for all their values. Returns false if the content is neither a
 * map nor null.
 */
bool read_arguments(const clearway_content *content, clearway_values *values, const clearway_value **arguments);

#endif
