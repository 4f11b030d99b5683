// SPDX-License-Identifier: MIT OR Apache-2.0
// The handler "block". It sleeps for the number of milliseconds in the message (u32). It runs on its own queue, because it blocks. If the
// caller has given the call up before the handler begins, the handler does not sleep.
#include <string.h>
#include <time.h>

#include "example.h"

static clearway_status sleep_for(void *context, const clearway_content *message, clearway_reply reply) {
  const example *self = context;
  uint32_t ms;
  if (message->size != sizeof ms) return refuse(self, reply, CLEARWAY_INVALID_ARGUMENT, "the message is u32 milliseconds");
  memcpy(&ms, message->data, sizeof ms);
  struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
  // A signal ends `nanosleep` early. The loop then sleeps for the rest of the time.
  if (self->host->wanted(reply) == CLEARWAY_OK) {
    while (nanosleep(&left, &left) != 0) continue;
  }
  return reply_null(self, reply);
}

clearway_status add_block(example *self) {
  static const entry entries[] = {{CLEARWAY_TEXT("block"), CLEARWAY_RUN_SERIAL, CLEARWAY_TEXT("block"), sleep_for}};
  return add_handlers(self, entries, 1);
}
