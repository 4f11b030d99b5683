// SPDX-License-Identifier: MIT OR Apache-2.0
// A minimal host: enough of clearway.h to run the example plugins under sanitizers, without the Rust core. Handlers run on the sending
// thread. Memory references are counted, so that a plugin's leak is detected.
#ifndef CLEARWAY_CHECK_HOST_H
#define CLEARWAY_CHECK_HOST_H

#include <stdbool.h>

#include "clearway.h"

/** The answer to the last message. `data` is a copy, valid until the next answer. */
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

/**
 * Sends a message. Returns the answer at the handler's return; `answered` is false if there is none yet. `memory` and `attachment` may be
 * 0.
 */
answer host_send(const char *channel, const void *data, size_t size, clearway_memory memory, clearway_memory attachment);

/** Blocks until the last message has its answer, and returns the answer. */
answer host_wait(void);

/** Listens to a source. Events queue for `host_next`. The queue has room for `room` events, and then emit returns CLEARWAY_FULL. */
clearway_status host_listen(const char *channel, const void *data, size_t size, unsigned room);
/** Blocks until there is an event, and takes it: copies at most `capacity` bytes to `bytes`. Returns false if the stream has ended. */
bool host_next(void *bytes, size_t capacity, size_t *size);
void host_cancel(void);

/** Allocates memory of the host. */
clearway_memory host_memory(size_t size, uint8_t **data);
void host_release(clearway_memory memory);
/** Returns the number of unreleased references. */
unsigned host_references(void);

#endif
