// SPDX-License-Identifier: MIT OR Apache-2.0
// A stream that emits at a rate, on its own thread.
#ifndef CLEARWAY_EXAMPLE_TICKER_H
#define CLEARWAY_EXAMPLE_TICKER_H

#include "example.h"

/** The events that a ticker emits. */
typedef struct tick_source {
  /** Makes and emits the event; `again` requests one that was refused as CLEARWAY_FULL before. */
  clearway_status (*emit)(void *state, clearway_stream stream, uint64_t number, bool again);
  /** Called once: at the end on the ticker's thread, or by `start_ticker` if that fails. */
  void (*drop)(void *state);
  void *state;
  /** Events a second; 0 for as fast as there is room. */
  uint32_t rate;
  /** The number of events; 0 for no end. */
  uint64_t count;
  /** Whether missed events are emitted late; otherwise they are skipped. */
  bool catches_up;
} tick_source;

/** Starts a stream. Takes the state over, and drops it if the stream does not start. */
clearway_status start_ticker(example *self, clearway_stream stream, const tick_source *source);

/** For `on_cancel` and `on_room` of a source whose context is the opening. */
void ticker_cancelled(void *context, clearway_stream stream);
void ticker_has_room(void *context, clearway_stream stream);

/** Stops all tickers, and waits for their threads. */
void stop_tickers(example *self);

/**
 * Reads an integer from the arguments of a listen: the map's, or `otherwise`. Returns false if it is no integer or out of
 * range.
 */
bool argument(const clearway_value *arguments, const char *key, int64_t min, int64_t max, int64_t otherwise, int64_t *value);

/** Reads a listen's arguments: a map or null. `values` needs room for them. */
bool read_arguments(const clearway_content *content, clearway_values *values, const clearway_value **arguments);

#endif
