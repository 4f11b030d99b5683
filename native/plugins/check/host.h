// SPDX-License-Identifier: MIT OR Apache-2.0
// A minimal host. It implements the part of clearway.h that the example plugins need, without the Rust core, so that sanitizers can check
// the plugins. All handlers run on the sending thread. The host counts the references to memory, to detect a plugin's leaks.
#ifndef CLEARWAY_CHECK_HOST_H
#define CLEARWAY_CHECK_HOST_H

#include <stdbool.h>

#include "clearway.h"

/** The answer to the last message. `data` is a copy. It is valid until the next answer. */
typedef struct answer {
  bool answered;
  clearway_status status;
  const uint8_t *data;
  size_t size;
  /** The memory of the answer's content, or 0. */
  clearway_memory memory;
  /** Whether the answer is null. It then has no bytes, but no bytes are not null. */
  bool is_null;
} answer;

/** Opens a plugin. Ends the process if that fails. */
void host_open(const char *path);
void host_close(void);
bool host_has(const char *channel);

/**
 * Sends a message and returns when the handler has returned. If the handler has not answered, `answered` is false. `memory` and
 * `attachment` may be 0.
 */
answer host_send(const char *channel, const void *data, size_t size, clearway_memory memory, clearway_memory attachment);

/** Blocks until the last message has its answer, and returns the answer. */
answer host_wait(void);

/** Listens to a source. Events wait in a queue for `host_next`. If `room` events wait, the plugin's emit returns CLEARWAY_FULL. */
clearway_status host_listen(const char *channel, const void *data, size_t size, unsigned room);
/**
 * Takes the next event. Blocks until there is one. Copies at most `capacity` of its bytes to `bytes`, and sets `*size` to its full size.
 * Returns false if the stream has ended.
 */
bool host_next(void *bytes, size_t capacity, size_t *size);
/** Cancels the stream and drops its waiting events. */
void host_cancel(void);

/** Allocates zeroed memory of the host. Sets `*data` to its address. */
clearway_memory host_memory(size_t size, uint8_t **data);
void host_release(clearway_memory memory);
/** Returns the number of unreleased references. */
unsigned host_references(void);

/** Counted references to memory: the functions of the host's table. */
clearway_status memory_allocate(clearway_plugin_id plugin, size_t size, uint32_t flags, clearway_view *view);
clearway_status memory_adopt(clearway_plugin_id plugin, uint8_t *data, size_t size, uint32_t flags,
                             clearway_release_memory release, void *context, clearway_view *view);
clearway_status memory_view(clearway_memory memory, clearway_view *view);
clearway_status memory_retain(clearway_memory memory, clearway_memory *another);
clearway_status memory_release(clearway_memory memory);
clearway_status memory_seal(clearway_memory memory);

#endif
