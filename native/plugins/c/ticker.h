// SPDX-License-Identifier: MIT OR Apache-2.0
// A stream that emits at a rate, on a thread of its own.
#ifndef CLEARWAY_EXAMPLE_TICKER_H
#define CLEARWAY_EXAMPLE_TICKER_H

#include "example.h"

/** What a ticker emits. */
typedef struct tick_source {
  /** Makes and emits the event; `again` asks for one that was refused as CLEARWAY_FULL before. */
  clearway_status (*emit)(void *state, clearway_stream stream, uint64_t number, bool again);
  /** Called once at the end, on the ticker's thread. */
  void (*drop)(void *state);
  void *state;
  /** A second; 0 is as fast as there is room. */
  uint32_t rate;
  /** How many; 0 is no end. */
  uint64_t count;
  /** What was missed is made up for; else it is left out. */
  bool catches_up;
} tick_source;

/** Starts a stream. Takes the state over, and drops it where it does not start. */
clearway_status start_ticker(example *self, clearway_stream stream, const tick_source *source);

/** For `on_cancel` and `on_room` of a source whose context is the opening. */
void ticker_cancelled(void *context, clearway_stream stream);
void ticker_has_room(void *context, clearway_stream stream);

/** Stops all, and waits for their threads. */
void stop_tickers(example *self);

/** An integer among the arguments of a listen: the map's, or `otherwise`. False where it is none or out of its range. */
bool argument(const clearway_value *arguments, const char *key, int64_t min, int64_t max, int64_t otherwise, int64_t *value);

/** Reads a listen's arguments: a map or null. `values` needs room for them. */
bool read_arguments(const clearway_content *content, clearway_values *values, const clearway_value **arguments);

#endif
