// SPDX-License-Identifier: MIT OR Apache-2.0
// A minimal host: enough of clearway.h to run the example plugins under sanitizers without the Rust core. Handlers run on the
// sending thread. Memory references are counted, so that a leak in a plugin shows.
#ifndef CLEARWAY_CHECK_HOST_H
#define CLEARWAY_CHECK_HOST_H

#include <stdbool.h>

#include "clearway.h"

/** The answer to the last message. The bytes are a copy, valid until the next message. */
typedef struct answer {
  bool answered;
  clearway_status status;
  const uint8_t *data;
  size_t size;
  /** The memory that the answer's content named, or 0. */
  clearway_memory memory;
} answer;

/** Opens a plugin. Ends the process if that fails. */
void host_open(const char *path);
void host_close(void);
bool host_has(const char *channel);

/** Sends a message. Returns the answer as of its handler's return, if there is one. `memory` and `attachment` may be 0. */
answer host_send(const char *channel, const void *data, size_t size, clearway_memory memory, clearway_memory attachment);

/** Waits for the answer to the last message. */
answer host_wait(void);

/** Listens. Events queue for `host_next`; `room` of them fit before CLEARWAY_FULL. */
clearway_status host_listen(const char *channel, const void *data, size_t size, unsigned room);
/** Waits for an event and takes it: copies it to `bytes`, cut to `capacity`. Returns false when the stream has ended. */
bool host_next(void *bytes, size_t capacity, size_t *size);
void host_cancel(void);

/** Allocates memory of the host. */
clearway_memory host_memory(size_t size, uint8_t **data);
void host_release(clearway_memory memory);
/** Returns the number of references that were not released. */
unsigned host_references(void);

#endif
