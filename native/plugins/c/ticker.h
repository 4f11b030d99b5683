// SPDX-License-Identifier: MIT OR Apache-2.0
// Tickers. A ticker emits the events of one stream at a given rate, on its own thread.
#ifndef CLEARWAY_EXAMPLE_TICKER_H
#define CLEARWAY_EXAMPLE_TICKER_H

#include "example.h"

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
