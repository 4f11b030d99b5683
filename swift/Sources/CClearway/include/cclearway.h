// SPDX-License-Identifier: MIT OR Apache-2.0
//
// libclearway for Swift: its functions, found at run time. An app builds and starts without libclearway.

#ifndef CCLEARWAY_H
#define CCLEARWAY_H

// Links to native/include, so that there is one copy of the headers.
#include "clearway.h"
#include "clearway_host.h"

// The functions that Swift uses. Each has the type that clearway_host.h declares.
#define CCLEARWAY_FUNCTIONS(USE)                                                                                       \
  USE(version)                                                                                                         \
  USE(plugin_open)                                                                                                     \
  USE(plugin_close)                                                                                                    \
  USE(plugin_free)                                                                                                     \
  USE(plugin_stats)                                                                                                    \
  USE(plugin_send)                                                                                                     \
  USE(plugin_listen)                                                                                                   \
  USE(plugin_drain)                                                                                                    \
  USE(call_give_up)                                                                                                    \
  USE(answer)                                                                                                          \
  USE(answer_error)                                                                                                    \
  USE(channel_find)                                                                                                    \
  USE(channel_call)                                                                                                    \
  USE(stream_credit)                                                                                                   \
  USE(stream_cancel)                                                                                                   \
  USE(event_release)                                                                                                   \
  USE(memory_allocate)                                                                                                 \
  USE(memory_view)                                                                                                     \
  USE(memory_retain)                                                                                                   \
  USE(memory_release)                                                                                                  \
  USE(memory_seal)                                                                                                     \
  USE(waiter_new)                                                                                                      \
  USE(waiter_free)                                                                                                     \
  USE(waiter_watch)                                                                                                    \
  USE(waiter_wake)                                                                                                     \
  USE(waiter_wait)                                                                                                     \
  USE(waiter_lend)

typedef struct cclearway {
#define CCLEARWAY_FIELD(name) __typeof__(clearway_##name) *_Nonnull name;
  CCLEARWAY_FUNCTIONS(CCLEARWAY_FIELD)
#undef CCLEARWAY_FIELD
} cclearway;

// Loads the library at `path` for the life of the process, and fills `functions`. Returns 0, or -1 and the reason in
// `error`: at most `error_size` bytes, including a terminating zero.
int cclearway_load(const char *_Nonnull path, cclearway *_Nonnull functions, char *_Nonnull error, size_t error_size);

#endif
