// SPDX-License-Identifier: MIT OR Apache-2.0
//
// clearway_host.h: what hosts of plugins call. Link to libclearway.
//
// `make fmt` generates this file from the Rust types in native/crates; do not edit it. `make check` compares them.
//
// All functions may be called from any thread. Only clearway_plugin_close and clearway_waiter_wait wait for work.
// clearway_plugin_set_wake, clearway_waiter_watch and clearway_plugin_free wait only for a wake function that runs. A handle of
// another plugin, a stale one, and a null, misaligned or impossible argument return a status. What unwinds out of a host's
// callback (a wake, a release) ends the process.
//
// Structs that may get further fields carry their size: `size` in clearway_options, clearway_window and clearway_stats is
// `sizeof` as the host was compiled. clearway_event, of which hosts have arrays, never changes.

#ifndef CLEARWAY_HOST_H
#define CLEARWAY_HOST_H

#include <stddef.h>
#include <stdint.h>
#include "clearway.h"

// The answer to a message: `tag`, `status`; `content`, or `text` if the status is not `CLEARWAY_OK`.
#define CLEARWAY_EVENT_ANSWER 1

// An event of a stream: `tag`, `handle` (the stream), `dropped` (events lost before it), `content`.
#define CLEARWAY_EVENT_ITEM 2

// The end of a stream: `tag`, `handle`, `dropped`, `status`, `text`.
#define CLEARWAY_EVENT_END 3

// A message from the plugin: `text` (the channel's name), `content`, `handle` (for `clearway_answer`; 0 if no answer is
// wanted).
#define CLEARWAY_EVENT_MESSAGE 4

// A log line from the plugin: `handle` (`CLEARWAY_LOG_...`), `text`.
#define CLEARWAY_EVENT_LOG 5

// No event: the answer of `clearway_channel_call` is null.
#define CLEARWAY_EVENT_NONE 0

// The answer of `clearway_channel_call` is the given memory, all of it.
#define CLEARWAY_EVENT_BACK 6

// The plugin has to wait: nothing is lost.
#define CLEARWAY_WHEN_FULL_WAIT 0

// The stream ends with `CLEARWAY_OVERFLOW`.
#define CLEARWAY_WHEN_FULL_FAIL 1

// The oldest unread event is dropped.
#define CLEARWAY_WHEN_FULL_DROP_OLDEST 2

// The event that finds no room is dropped.
#define CLEARWAY_WHEN_FULL_DROP_NEWEST 3

// One item that a plugin has for its host. Release it with `clearway_event_release` after use.
typedef struct clearway_event {
  // `CLEARWAY_EVENT_...`.
  uint32_t kind;
  // The result.
  clearway_status status;
  // The host's tag for the message or the listener.
  uint64_t tag;
  // Depends on the kind.
  uint64_t handle;
  // The number of the stream's events that were dropped.
  uint64_t dropped;
  // Valid until the event is released. Retain a memory to keep it.
  clearway_content content;
  // Valid until the event is released.
  clearway_text text;
  // The handle that holds content and text; 0 if there are none.
  uint64_t held;
  // Bytes of the content that were copied on their way into the queue: all of them, or none.
  uint64_t copied;
} clearway_event;

// Limits of one opened plugin. 0 selects the default.
typedef struct clearway_options {
  // `sizeof(clearway_options)`, as the host was compiled.
  size_t size;
  // The most threads of the plugin's pool; default: the number of processors, at least 2.
  uint32_t threads;
  // The most calls in flight, and as many messages to the host; default: 16384.
  uint32_t calls_max;
  // The most listeners at a time; default: 1024.
  uint32_t streams_max;
  // 0.
  uint32_t reserved;
} clearway_options;

// Called on any thread when there is something to drain and was nothing before. It must only wake the thread that drains.
typedef void (*clearway_wake)(void *context);

// The cost of a plugin's calls since it was opened.
typedef struct clearway_stats {
  // Set it to `sizeof(clearway_stats)`, as the host was compiled. Returns the number of bytes that the library has filled
  // in, `size` included.
  size_t size;
  // Messages sent to the plugin and by the plugin.
  uint64_t messages;
  // Events that were read.
  uint64_t events;
  // Events that were dropped.
  uint64_t events_dropped;
  // Messages, answers and events whose bytes were copied.
  uint64_t copies;
  // The number of bytes copied.
  uint64_t copied_bytes;
  // Calls in flight now.
  uint64_t calls;
  // Listeners now.
  uint64_t streams;
  // How long queued calls waited for their thread: the median, in nanoseconds.
  uint64_t wait_ns_p50;
  // The 99th percentile: one call in a hundred waited longer.
  uint64_t wait_ns_p99;
  // The maximum.
  uint64_t wait_ns_max;
  // How long queued calls ran: the median, in nanoseconds.
  uint64_t run_ns_p50;
  // The 99th percentile: one call in a hundred ran longer.
  uint64_t run_ns_p99;
  // The maximum.
  uint64_t run_ns_max;
  // In the whole process: memories from the slab pool that are in use.
  uint64_t memories;
  // In the whole process: the bytes of those memories.
  uint64_t memory_bytes;
  // In the whole process: the bytes that the slab pool keeps for reuse.
  uint64_t kept_bytes;
} clearway_stats;

// A channel of one opened plugin. `CLEARWAY_STALE` once the plugin was freed.
typedef struct clearway_channel {
  uint64_t handle;
} clearway_channel;

// How many events of a stream may wait and be read.
typedef struct clearway_window {
  // `sizeof(clearway_window)`, as the host was compiled.
  size_t size;
  // The most events that may wait: 1 or more.
  uint32_t items;
  // `CLEARWAY_WHEN_FULL_...`: the policy beyond these limits.
  uint32_t when_full;
  // The most bytes that may wait, attachments included. An event that is alone in the queue may be larger.
  uint64_t bytes;
  // Events that may be read before credit is given; `UINT64_MAX` for no limit.
  uint64_t credit;
} clearway_window;

// An object on which a host thread waits for events to drain and for the return of lent memory.
typedef struct clearway_waiter {
  uint64_t handle;
} clearway_waiter;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Releases the content and text of `count` events, as `clearway_event_release` does. Skips events that hold nothing or
// were released.
clearway_status clearway_events_release(struct clearway_event *events, size_t count);

// Releases an event's content and text. Returns `CLEARWAY_STALE` if they were released before; `CLEARWAY_OK` for null and
// for an event that holds nothing.
clearway_status clearway_event_release(struct clearway_event *event);

// Returns the version of this library: `CLEARWAY_ABI_MAJOR` in the upper sixteen bits, `CLEARWAY_ABI_MINOR` in the lower.
uint32_t clearway_version(void);

// Loads a library and opens the plugin in it, on this thread. `options` may be null. On failure, `error` (may be null)
// gets a text of at most `error_size` bytes, including a terminating zero.
clearway_status clearway_plugin_open(clearway_text path,
                                     const struct clearway_options *options,
                                     clearway_plugin_id *plugin,
                                     char *error,
                                     size_t error_size);

// Closes a plugin. Listeners are cancelled, and queued messages still run until the time is over. Calls that still wait
// are then answered `CLEARWAY_CLOSED`, to be drained as usual. Waits for running handlers; returns `CLEARWAY_TIMEOUT` if
// one does not end, and may then be called again. Returns `CLEARWAY_INVALID_ARGUMENT` in a callback of any plugin: a
// handler, a source, a wake, a release. `on_drop`, `on_close` and a direct source's `on_cancel` run on this thread: the
// timeout does not bound them. The library stays loaded.
clearway_status clearway_plugin_close(clearway_plugin_id id,
                                      uint32_t timeout_ms);

// Frees a plugin after it was closed: its id becomes stale, and undrained events are dropped. An open plugin is closed
// first, without waiting for handlers, under the rules of `clearway_plugin_close`. Returns `CLEARWAY_INVALID_ARGUMENT` in
// a wake.
clearway_status clearway_plugin_free(clearway_plugin_id id);

// Sets the function that is called when there is something to drain and was nothing before; null for none. Returns when no
// thread is in the previous function. Returns `CLEARWAY_INVALID_ARGUMENT` in a wake.
clearway_status clearway_plugin_set_wake(clearway_plugin_id id,
                                         clearway_wake wake,
                                         void *context);

// Returns the cost of a plugin's calls. The host sets `stats->size` before.
clearway_status clearway_plugin_stats(clearway_plugin_id id, struct clearway_stats *stats);

// Sends a message. A direct handler runs on this thread before this returns. `CLEARWAY_OK`: `answer` has the answer, to be
// released. `CLEARWAY_PENDING`: the answer will be drained, with `tag`; `answer->handle` is the call, for
// `clearway_call_give_up`. A null `answer` means that no answer is wanted. Any other status: the message was not sent or,
// without `answer`, a direct handler refused it. Copies bytes without a memory if the handler is not direct. Never waits
// for a handler that is not direct.
clearway_status clearway_plugin_send(clearway_plugin_id id,
                                     clearway_text channel,
                                     const clearway_content *content,
                                     uint64_t tag,
                                     struct clearway_event *answer);

// Gives a pending message up: its handler may ask and stop. The answer is drained all the same.
clearway_status clearway_call_give_up(clearway_plugin_id id, uint64_t call);

// Answers a message from the plugin, once.
clearway_status clearway_answer(clearway_reply reply, const clearway_content *content);

// Answers a message from the plugin with a status other than `CLEARWAY_OK`. The text may be empty.
clearway_status clearway_answer_error(clearway_reply reply, clearway_status error, clearway_text message);

// Returns the number of a plugin's channel, the same each time. The channel need not have a handler yet.
clearway_status clearway_channel_find(clearway_plugin_id id, clearway_text name, clearway_channel *channel);

// Calls a channel's direct handler on this thread, as `clearway_plugin_send` does, for frequent callers. `data` and the
// following arguments are the content: all null and 0 is the null message. No other thread may release its memory
// meanwhile.
//
// `CLEARWAY_OK`: `answer->kind` is `CLEARWAY_EVENT_NONE` if the answer is null, and `CLEARWAY_EVENT_BACK` if it is all of
// `memory`, which was given without `data`; no other field is written then. An answer without memory whose bytes fit is
// copied to `into`, which has `room` bytes, and needs no release. `CLEARWAY_PENDING`: the handler runs elsewhere or
// answers later, and the answer is drained with tag 0; `answer->handle` is the call.
clearway_status clearway_channel_call(clearway_channel channel,
                                      const uint8_t *data,
                                      size_t size,
                                      clearway_memory memory,
                                      const clearway_memory *attachments,
                                      size_t attachments_count,
                                      uint8_t *into,
                                      size_t room,
                                      struct clearway_event *answer);

// Listens to a channel's events, which are drained with `tag`, and at last an end. A source that refuses ends the stream.
clearway_status clearway_plugin_listen(clearway_plugin_id id,
                                       clearway_text channel,
                                       const clearway_content *arguments,
                                       const struct clearway_window *window,
                                       uint64_t tag,
                                       clearway_stream *stream);

// Allows `events` more events to be drained. Returns `CLEARWAY_STALE` if the stream has ended.
clearway_status clearway_stream_credit(clearway_plugin_id id, clearway_stream stream, uint64_t events);

// Stops listening: queued events are dropped, nothing more is drained, and the source is notified.
clearway_status clearway_stream_cancel(clearway_plugin_id id, clearway_stream stream);

// Takes up to `capacity` events out, 1 or more, each to be released. `CLEARWAY_PENDING`: there are more, for which no wake
// follows. `CLEARWAY_OK`: there are no more. Never waits.
clearway_status clearway_plugin_drain(clearway_plugin_id id,
                                      struct clearway_event *events,
                                      size_t capacity,
                                      size_t *count);

// Allocates memory, from 4 KB on from pooled slabs, whose pages are mapped already. The caller owns the reference in `view`.
clearway_status clearway_memory_allocate(size_t size,
                                         uint32_t flags,
                                         clearway_view *view);

// Lends memory of the host to plugins, without copying. `release` is called once, on the thread that releases the last
// reference. The caller owns the reference in `view`.
clearway_status clearway_memory_lend(uint8_t *data,
                                     size_t size,
                                     uint32_t flags,
                                     clearway_release_memory release,
                                     void *context,
                                     clearway_view *view);

// Returns the address and the size of a memory.
clearway_status clearway_memory_view(clearway_memory memory, clearway_view *view);

// Makes another reference to the same memory, which the caller owns.
clearway_status clearway_memory_retain(clearway_memory memory, clearway_memory *another);

// Releases a reference.
clearway_status clearway_memory_release(clearway_memory memory);

// Seals the memory: a promise that no thread writes to it any more.
clearway_status clearway_memory_seal(clearway_memory memory);

// Makes a waiter.
clearway_status clearway_waiter_new(clearway_waiter *waiter);

// Frees a waiter: threads that wait on it return `CLEARWAY_STALE`. Memory that it has lent stays lent, and its return is
// not reported.
clearway_status clearway_waiter_free(clearway_waiter waiter);

// Makes a plugin wake this waiter, instead of a function set by `clearway_plugin_set_wake`, and under the same rules.
// Several plugins may wake one waiter.
clearway_status clearway_waiter_watch(clearway_waiter waiter, clearway_plugin_id id);

// Wakes the threads that wait on a waiter, or the next one that will.
clearway_status clearway_waiter_wake(clearway_waiter waiter);

// Waits until a plugin has something to drain or lent memory has come back, at most `timeout_ms`; `UINT32_MAX` waits
// without limit. Writes up to `capacity` tags of returned memory, 1 or more, to `returned`. `CLEARWAY_OK`: there may be
// something to drain. `CLEARWAY_PENDING`: the same, and more memory has come back. `CLEARWAY_TIMEOUT`: nothing happened.
// Several threads may wait; a wake wakes all threads that wait at that moment.
clearway_status clearway_waiter_wait(clearway_waiter waiter,
                                     uint32_t timeout_ms,
                                     uint64_t *returned,
                                     size_t capacity,
                                     size_t *count);

// Lends memory of the host to plugins, as `clearway_memory_lend` does, without copying. When the last reference is
// released, `clearway_waiter_wait` returns `tag`. The caller owns the reference in `view`. `flags`: 0,
// `CLEARWAY_MEMORY_SHARED`, `CLEARWAY_MEMORY_SEALED`.
clearway_status clearway_waiter_lend(clearway_waiter waiter,
                                     uint8_t *data,
                                     size_t size,
                                     uint32_t flags,
                                     uint64_t tag,
                                     clearway_view *view);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* CLEARWAY_HOST_H */


