// SPDX-License-Identifier: MIT OR Apache-2.0
// A simulated sensor: the source "sensor". An event has 24 bytes:
//
//    0        8              16              24
//    +--------+--------------+---------------+
//    | number | ns, monotonic| value, float64|   little-endian
//    +--------+--------------+---------------+
#include <stdlib.h>
#include <string.h>

#include "example.h"

typedef struct reading {
  uint64_t number;
  uint64_t ns;
  double value;
} reading;

static clearway_status emit(void *state, clearway_stream stream, uint64_t number, bool is_retry) {
  (void)is_retry;
  const clearway_host *host = state;
  // The values are a sawtooth of a hundred steps, in which a lost event is visible.
  const reading now = {.number = number, .ns = now_ns(), .value = (double)(number % 100) / 100};
  return host->emit(stream, &(clearway_content){.data = (const uint8_t *)&now, .size = sizeof now});
}

static void drop(void *state) { (void)state; }

// Arguments: {"rate": events per second, "count": number of events}. At rate 0, emits an event whenever the stream has room. With count 0,
// the stream has no end.
static clearway_status on_listen(void *context, const clearway_content *arguments, clearway_stream stream) {
  example *self = context;
  clearway_value memory[16];
  clearway_values values = {.at = memory, .capacity = 16};
  const clearway_value *given;
  int64_t rate, count;
  if (!read_arguments(arguments, &values, &given) || !argument(given, "rate", 0, 1000000, 100, &rate) ||
      !argument(given, "count", 0, INT64_MAX, 0, &count))
    return CLEARWAY_INVALID_ARGUMENT;
  const tick_source source = {.emit = emit,
                              .drop = drop,
                              .state = (void *)(uintptr_t)self->host,
                              .rate = (uint32_t)rate,
                              .count = (uint64_t)count,
                              .catches_up = true};
  return start_ticker(self, stream, &source);
}

clearway_status add_sensor(example *self) {
  const clearway_source source = {.size = sizeof source,
                                  .channel = CLEARWAY_TEXT("sensor"),
                                  .runs = CLEARWAY_RUN_POOL,
                                  .context = self,
                                  .on_listen = on_listen,
                                  .on_cancel = ticker_cancelled,
                                  .on_room = ticker_has_room};
  return self->host->source(self->id, &source);
}
