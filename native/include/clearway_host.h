// SPDX-License-Identifier: MIT OR Apache-2.0
//
// clearway_host.h: the functions for hosts of plugins. Link to libclearway.
//
// `make fmt` generates this file from the Rust types in native/crates; do not edit it. `make check` compares the two.
//
// Any thread may call any function. Only clearway_plugin_close and clearway_waiter_wait wait for work.
// clearway_plugin_set_wake, clearway_waiter_watch and clearway_plugin_free wait only for a wake function that runs. A handle
// of another plugin, a stale handle, and a null, misaligned or impossible argument return a status. A panic or an exception
// that unwinds out of a host's callback (a wake, a release) ends the process.
//
// A pointer must be null, or valid for its stated size, during the call.
//
// Structs that may get further fields have a field `size`: clearway_options, clearway_window and clearway_stats. The host
// sets it to `sizeof`, as the host was compiled. A smaller struct of an older host and a larger one of a newer host are
// accepted. clearway_event never changes, because hosts have arrays of it.

#ifndef CLEARWAY_HOST_H
#define CLEARWAY_HOST_H

#include <stddef.h>
#include <stdint.h>
#include "clearway.h"

// The answer to a message. Sets `tag` and `status`. Sets `content` if the status is `CLEARWAY_OK`, and `text` if not.
#define CLEARWAY_EVENT_ANSWER 1

// An event of a stream. Sets `tag`, `handle` (the stream), `dropped` (the number of events lost before this one) and
// `content`.
#define CLEARWAY_EVENT_ITEM 2

// The end of a stream. Sets `tag`, `handle` (the stream), `dropped`, `status` and `text`.
#define CLEARWAY_EVENT_END 3

// A message from the plugin. Sets `text` (the channel's name), `content`, and `handle` (for `clearway_answer`, or 0 if
// the plugin wants no answer).
#define CLEARWAY_EVENT_MESSAGE 4

// A log line from the plugin. Sets `handle` (`CLEARWAY_LOG_...`) and `text`.
#define CLEARWAY_EVENT_LOG 5

// No event. An answer of `clearway_channel_call` with this kind is the null message.
#define CLEARWAY_EVENT_NONE 0

// The answer of `clearway_channel_call` is exactly the memory that the caller passed.
#define CLEARWAY_EVENT_BACK 6

// Refuses the event with `CLEARWAY_FULL`. The plugin has to wait, and no event is lost.
#define CLEARWAY_WHEN_FULL_WAIT 0

// Ends the stream with `CLEARWAY_OVERFLOW`.
#define CLEARWAY_WHEN_FULL_FAIL 1

// Drops the oldest unread event.
#define CLEARWAY_WHEN_FULL_DROP_OLDEST 2

// Drops the new event.
#define CLEARWAY_WHEN_FULL_DROP_NEWEST 3

// One item that a plugin has for its host. The host must release each event with `clearway_event_release` after use.
typedef struct clearway_event {
  // The kind of the event: `CLEARWAY_EVENT_...`.
  uint32_t kind;
  // The status of an answer or of a stream's end.
  clearway_status status;
  // The host's tag for the message or the listener.
  uint64_t tag;
  // A stream, a reply, a call or a log level, depending on the kind.
  uint64_t handle;
  // The number of events that the stream has dropped since its previous event.
  uint64_t dropped;
  // The content. Valid until the event is released. To keep a memory for longer, retain it.
  clearway_content content;
  // The text. Valid until the event is released.
  clearway_text text;
  // The handle that keeps content and text valid, or 0 if the event has neither.
  uint64_t held;
  // The number of bytes of the content that were copied into the queue: all of them, or 0.
  uint64_t copied;
} clearway_event;

// Limits of one opened plugin. A limit of 0 selects the default.
typedef struct clearway_options {
  // Must be `sizeof(clearway_options)`.
  size_t size;
  // The maximum number of threads in the plugin's pool. Default: the number of processors, at least 2.
  uint32_t threads;
  // The maximum number of calls in flight. Unread messages to the host have the same limit, counted separately.
  // Default: 16384.
  uint32_t calls_max;
  // The maximum number of open streams at a time. Each listener has one stream. Default: 1024.
  uint32_t streams_max;
  // Reserved. Must be 0.
  uint32_t reserved;
} clearway_options;

// Called when a plugin's queue of events stops being empty, on any thread. The function must only wake the thread that
// takes the events out (`clearway_plugin_drain`).
typedef void (*clearway_wake)(void *context);

// The counters of a plugin since it was opened, and how long its calls took.
typedef struct clearway_stats {
  // Must be `sizeof(clearway_stats)`. The library replaces this value with the number of bytes that it has
  // filled in, `size` included.
  size_t size;
  // The number of messages sent to the plugin and by the plugin.
  uint64_t messages;
  // The number of events that the host has drained.
  uint64_t events;
  // The number of dropped events that the host has been informed of.
  uint64_t events_dropped;
  // The number of messages, answers and events whose bytes were copied.
  uint64_t copies;
  // The number of bytes copied.
  uint64_t copied_bytes;
  // The number of calls in flight now.
  uint64_t calls;
  // The number of open streams now. Each listener has one stream.
  uint64_t streams;
  // How long queued calls waited for their thread: the median, in nanoseconds.
  uint64_t wait_ns_p50;
  // The 99th percentile of these waits, in nanoseconds. One call in a hundred waited longer.
  uint64_t wait_ns_p99;
  // The longest of these waits, in nanoseconds.
  uint64_t wait_ns_max;
  // How long queued calls ran: the median, in nanoseconds.
  uint64_t run_ns_p50;
  // The 99th percentile of these runs, in nanoseconds. One call in a hundred ran longer.
  uint64_t run_ns_p99;
  // The longest of these runs, in nanoseconds.
  uint64_t run_ns_max;
  // The number of allocated memories in use, in the whole process.
  uint64_t memories;
  // The number of bytes of these memories.
  uint64_t memory_bytes;
  // The number of bytes of freed memory that the library keeps for later allocations, in the whole process.
  uint64_t kept_bytes;
} clearway_stats;

// The number of a channel of one opened plugin. `CLEARWAY_STALE` once the plugin was freed.
typedef struct clearway_channel {
  uint64_t handle;
} clearway_channel;

// The limits of one stream's queue, and the number of events that the host may drain (take out of the queue).
typedef struct clearway_window {
  // Must be `sizeof(clearway_window)`.
  size_t size;
  // The maximum number of events that may wait: 1 or more.
  uint32_t items;
  // The policy for an event that exceeds these limits: `CLEARWAY_WHEN_FULL_...`.
  uint32_t when_full;
  // The maximum number of bytes that may wait, attachments included. An event that is alone in the queue may be
  // larger.
  uint64_t bytes;
  // The number of events that the host may drain before it gives more credit. `UINT64_MAX` means no limit.
  uint64_t credit;
} clearway_window;

// An object on which a host's threads wait, for events to drain and for the return of lent memory.
typedef struct clearway_waiter {
  uint64_t handle;
} clearway_waiter;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Releases the content and text of `count` events, as `clearway_event_release` does. Skips events that hold nothing or
// that were released before.
clearway_status clearway_events_release(struct clearway_event *events, size_t count);

// Releases an event's content and text. Returns `CLEARWAY_STALE` if they were released before. Returns `CLEARWAY_OK`
// for null and for an event that holds nothing.
clearway_status clearway_event_release(struct clearway_event *event);

// Returns the version of this library: `CLEARWAY_ABI_MAJOR` in the upper 16 bits, and `CLEARWAY_ABI_MINOR` in the
// lower 16 bits.
uint32_t clearway_version(void);

// Loads a library and opens its plugin, on the calling thread. A null `options` selects the defaults. If opening
// fails, writes the reason to `error`: at most `error_size` bytes, including a terminating zero. `error` may be null.
clearway_status clearway_plugin_open(clearway_text path,
                                     const struct clearway_options *options,
                                     clearway_plugin_id *plugin,
                                     char *error,
                                     size_t error_size);

// Closes a plugin. Cancels its listeners. Queued messages are still handled until `timeout_ms` milliseconds are over.
// Calls that still wait are then answered with `CLEARWAY_CLOSED`. The host drains these answers as usual.
//
// Waits for running handlers. If one does not end in time, returns `CLEARWAY_TIMEOUT`, and the host may call the
// function again. Returns `CLEARWAY_INVALID_ARGUMENT` in a callback of any plugin: a handler, a source, a wake or a
// release. `on_drop`, `on_close` and a direct source's `on_cancel` run on the calling thread, and the timeout does not
// bound them. After the timeout, the same holds for `on_cancel` and `on_answer` of a queue none of whose callbacks
// runs. If one runs, the queue's own thread runs them next. The library stays loaded.
clearway_status clearway_plugin_close(clearway_plugin_id id, uint32_t timeout_ms);

// Frees a plugin after it was closed. The plugin's id becomes stale, and events that the host has not drained are
// dropped. Closes an open plugin first, without waiting for handlers, under the rules of `clearway_plugin_close`.
// Returns `CLEARWAY_INVALID_ARGUMENT` in a wake.
//
// If no close has called the plugin's `on_close` yet, this function calls it, unless a handler still runs or the calling
// thread is in a callback. In these two cases, only a `clearway_plugin_close` that is waiting on another thread calls
// `on_close`, after the last handler has returned. If no thread waits, `on_close` is never called.
clearway_status clearway_plugin_free(clearway_plugin_id id);

// Sets the function that is called when the plugin's queue of events stops being empty. Null removes the function.
// Blocks until no thread runs the previous function. Returns `CLEARWAY_INVALID_ARGUMENT` in a wake.
clearway_status clearway_plugin_set_wake(clearway_plugin_id id, clearway_wake wake, void *context);

// Writes the counters of a plugin, and how long its calls took, to `stats`. The host must set `stats->size` first.
clearway_status clearway_plugin_stats(clearway_plugin_id id, struct clearway_stats *stats);

// Sends a message. A direct handler runs on the calling thread before this function returns. If the handler is not
// direct, copies bytes that are not in a memory, and never waits for the handler. A null `answer` means that the
// caller wants no answer.
//
// - `CLEARWAY_OK`: `answer` has the answer, which the host must release. Without `answer`, the message was sent.
// - `CLEARWAY_PENDING`: the host will drain the answer, with `tag`. `answer->handle` is the call, for
//   `clearway_call_give_up`.
// - Any other status: the message was not sent. Without `answer`, the status may also be that of a direct handler that
//   refused the message.
clearway_status clearway_plugin_send(clearway_plugin_id id,
                                     clearway_text channel,
                                     const clearway_content *content,
                                     uint64_t tag,
                                     struct clearway_event *answer);

// Gives up a pending message. The message's handler can check for that and stop. The host still drains the answer.
// Returns `CLEARWAY_STALE` if the message was answered before or belongs to another plugin.
clearway_status clearway_call_give_up(clearway_plugin_id id, uint64_t call);

// Answers a message from the plugin, once. Returns `CLEARWAY_STALE` if the message was answered before.
clearway_status clearway_answer(clearway_reply reply, const clearway_content *content);

// Answers a message from the plugin with a status other than `CLEARWAY_OK`, and a text for people, which may be empty.
// Cuts texts longer than 4096 bytes.
clearway_status clearway_answer_error(clearway_reply reply, clearway_status error, clearway_text message);

// Returns the number of a plugin's channel. Every call with the same name returns the same number. The channel may get
// its handler later.
clearway_status clearway_channel_find(clearway_plugin_id id, clearway_text name, clearway_channel *channel);

// Calls a channel's direct handler on the calling thread, as `clearway_plugin_send` does, for frequent callers.
// `data`, `size`, `memory`, `attachments` and `attachments_count` are the content. The content is the null message if
// all of them are null or 0. Unlike `clearway_plugin_send`, this function takes no references: no other thread may
// release `memory` or an attachment during the call.
//
// Returns `CLEARWAY_OK` if the handler has answered. `answer->kind` is then one of these:
//
// - `CLEARWAY_EVENT_NONE`: the answer is null. No other field of `answer` is set.
// - `CLEARWAY_EVENT_BACK`: the answer is exactly `memory`, and the caller passed `memory` without `data`. No other
//   field is set.
// - `CLEARWAY_EVENT_ANSWER`: any other answer. If its bytes are not in a memory and fit in `into`, which has `room`
//   bytes, they are copied to `into`. Such an answer needs no release.
//
// Returns `CLEARWAY_PENDING` if the handler answers later. The host then drains the answer, with tag 0, and
// `answer->handle` is the call. Returns it with the handle 0 if the handler runs on another thread: it is not called.
clearway_status clearway_channel_call(clearway_channel channel,
                                      const uint8_t *data,
                                      size_t size,
                                      clearway_memory memory,
                                      const clearway_memory *attachments,
                                      size_t attachments_count,
                                      uint8_t *into,
                                      size_t room,
                                      struct clearway_event *answer);

// Listens to a channel's events, and writes the stream's handle to `stream`. The host drains the events and finally
// an end, all with `tag`. If the source refuses, the end has the source's status.
clearway_status clearway_plugin_listen(clearway_plugin_id id,
                                       clearway_text channel,
                                       const clearway_content *arguments,
                                       const struct clearway_window *window,
                                       uint64_t tag,
                                       clearway_stream *stream);

// Allows the host to drain `events` more events. Returns `CLEARWAY_STALE` if the stream has ended.
clearway_status clearway_stream_credit(clearway_plugin_id id, clearway_stream stream, uint64_t events);

// Stops listening. Drops queued events and notifies the source. The host drains no more of the stream's events.
// Returns `CLEARWAY_STALE` if the stream has ended.
clearway_status clearway_stream_cancel(clearway_plugin_id id, clearway_stream stream);

// Takes up to `capacity` events out of the plugin's queue. `capacity` must be 1 or more. The caller must release each
// event. Returns `CLEARWAY_PENDING` if more events are left. No wake follows for those, so the host must drain again.
// Returns `CLEARWAY_OK` if no event is left. Never waits.
clearway_status clearway_plugin_drain(clearway_plugin_id id,
                                      struct clearway_event *events,
                                      size_t capacity,
                                      size_t *count);

// Allocates memory. Sizes from 4 KB on come from pooled slabs, whose pages are already mapped. The caller owns the
// reference in `view`.
clearway_status clearway_memory_allocate(size_t size, uint32_t flags, clearway_view *view);

// Lends memory of the host to plugins. Does not copy. The thread that releases the last reference calls `release`,
// once. The caller owns the reference in `view`.
clearway_status clearway_memory_lend(uint8_t *data,
                                     size_t size,
                                     uint32_t flags,
                                     clearway_release_memory release,
                                     void *context,
                                     clearway_view *view);

// Returns the address and the size of a memory.
clearway_status clearway_memory_view(clearway_memory memory, clearway_view *view);

// Makes another reference to the same memory. The caller owns the new reference.
clearway_status clearway_memory_retain(clearway_memory memory, clearway_memory *another);

// Releases a reference. Releasing the last reference frees the memory, or returns it to its owner.
clearway_status clearway_memory_release(clearway_memory memory);

// Seals the memory: the holders promise that no thread writes to it any more. Cannot be undone.
clearway_status clearway_memory_seal(clearway_memory memory);

// Makes a waiter.
clearway_status clearway_waiter_new(clearway_waiter *waiter);

// Frees a waiter. Threads that wait on it return `CLEARWAY_STALE`. Memory that was lent through the waiter stays lent.
// Its return is not reported.
clearway_status clearway_waiter_free(clearway_waiter waiter);

// Makes a plugin wake this waiter, instead of a function set by `clearway_plugin_set_wake`. The rules of that function
// apply. Several plugins may wake one waiter.
clearway_status clearway_waiter_watch(clearway_waiter waiter, clearway_plugin_id id);

// Wakes the threads that wait on a waiter. If none waits, wakes the next thread that will wait.
clearway_status clearway_waiter_wake(clearway_waiter waiter);

// Waits until a plugin has events to drain, or until lent memory has come back. Waits at most `timeout_ms`
// milliseconds; `UINT32_MAX` means no limit. Writes up to `capacity` tags of returned memory to `returned`, and their
// number to `count`. `capacity` must be 1 or more. Several threads may wait. A wake wakes all threads that wait at
// that moment.
//
// - `CLEARWAY_OK`: a plugin may have events to drain, or memory has come back.
// - `CLEARWAY_PENDING`: the same, and more memory has come back than fits in `returned`.
// - `CLEARWAY_TIMEOUT`: nothing has happened in this time.
clearway_status clearway_waiter_wait(clearway_waiter waiter,
                                     uint32_t timeout_ms,
                                     uint64_t *returned,
                                     size_t capacity,
                                     size_t *count);

// Lends memory of the host to plugins, as `clearway_memory_lend` does. Does not copy. After the last reference is
// released, `clearway_waiter_wait` returns `tag`; if this function fails, it never does. The caller owns the reference
// in `view`. `flags` is 0, `CLEARWAY_MEMORY_SHARED`, `CLEARWAY_MEMORY_SEALED` or both.
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


