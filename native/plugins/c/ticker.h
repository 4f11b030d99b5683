// SPDX-License-Identifier: MIT OR Apache-2.0
// A stream that emits events at a rate, on its own thread.
#ifndef CLEARWAY_EXAMPLE_TICKER_H
#define CLEARWAY_EXAMPLE_TICKER_H

#include "example.h"

/** The events that a ticker emits. */
typedef struct tick_source {
  /** Makes and emits the event. `again` means that the previous attempt returned CLEARWAY_FULL. */
  clearway_status (*emit)(void *state, clearway_stream stream, uint64_t number, bool again);
  /** Frees the state. Called once: at the end, on the ticker's thread, or by `start_ticker` if that fails. */
  void (*drop)(void *state);
  void *state;
  /** The number of events a second. 0 emits whenever there is room. */
  uint32_t rate;
  /** The number of events. 0 means no end. */
  uint64_t count;
  /** Whether missed events are emitted late. Otherwise they are skipped. */
  bool catches_up;
} tick_source;

/** Starts a stream. Takes ownership of the state, and drops it if the stream does not start. */
clearway_status start_ticker(example *self, clearway_stream stream, const tick_source *source);

/** Callbacks for `on_cancel` and `on_room` of a source. The source's context is the `example`. */
void ticker_cancelled(void *context, clearway_stream stream);
void ticker_has_room(void *context, clearway_stream stream);

/** Stops all tickers. Blocks until their threads have ended. */
void stop_tickers(example *self);

/**
 * Reads an integer from the arguments of a listen. Stores the map's value, or `otherwise` if the map has none. Returns false if the value
 * is no integer or out of range.
 */
bool argument(const clearway_value *arguments, const char *key, int64_t min, int64_t max, int64_t otherwise, int64_t *value);

/** Reads a listen's arguments, which are a map or null. `values` needs room for all values. Returns false for anything else. */
bool read_arguments(const clearway_content *content, clearway_values *values, const clearway_value **arguments);

#endif
