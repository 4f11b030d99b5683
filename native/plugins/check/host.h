// SPDX-License-Identifier: MIT OR Apache-2.0
// A stand-in for a host, as small as can be: enough of clearway.h to run the example plugins under sanitizers without the
// Rust core. Handlers run on the thread that sends; memory is counted, so that what a plugin does not release shows.
#ifndef CLEARWAY_CHECK_HOST_H
#define CLEARWAY_CHECK_HOST_H

#include <stdbool.h>

#include "clearway.h"

/** How the last message was answered. The bytes are a copy, until the next message. */
typedef struct answer {
  bool answered;
  clearway_status status;
  const uint8_t *data;
  size_t size;
  /** Whether the answer stood in memory, and was not copied. */
  clearway_memory memory;
} answer;

/** Opens a plugin; ends the process where it cannot. */
void host_open(const char *path);
void host_close(void);
bool host_has(const char *channel);

/** Sends a message; the answer that it had when its handler returned, if any. `memory` and `attachment` may be 0. */
answer host_send(const char *channel, const void *data, size_t size, clearway_memory memory, clearway_memory attachment);

/** Waits for the answer to the last message. */
answer host_wait(void);

/** Listens; each event is given to `on_event` on the thread of whoever emits. `room` events fit before FULL. */
clearway_status host_listen(const char *channel, const void *data, size_t size, unsigned room);
/** Waits for an event and takes it: its copy in `bytes`, cut to `capacity`. False where the stream has ended. */
bool host_next(void *bytes, size_t capacity, size_t *size);
void host_cancel(void);

/** Memory of the host's. */
clearway_memory host_memory(size_t size, uint8_t **data);
void host_release(clearway_memory memory);
/** References that nobody has released. */
unsigned host_references(void);

#endif
