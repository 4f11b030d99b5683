// SPDX-License-Identifier: MIT OR Apache-2.0
//
// clearway.h: one C ABI for native plugins, the same for every host (Node, the JVM, Swift, C).
//
// Made from the Rust types in native/crates by `make fmt`; not edited by hand. `make check` holds it to them.
//
// A plugin is a shared library that exports
//
//     CLEARWAY_EXPORT clearway_status clearway_plugin_init(const clearway_host *host, clearway_plugin *plugin);
//
// and calls nothing but the functions of `host`: it links to nothing of Clearway's. All functions of that table may be called
// from any thread. Handles (memory, replies, streams, plugins) have generations: one that was released, answered or
// ended is refused as CLEARWAY_STALE, and never names something else. Pointers are lent for the time of a call, and are
// null or right for what they announce; null, lengths, ranges and alignment are looked at, and refused by a status.
//
// The functions clearway_plugin_..., clearway_stream_..., clearway_call_..., clearway_memory_..., clearway_event_release, clearway_answer and
// clearway_answer_error are for hosts, which link to libclearway. Plugins do not call them.
//
// Nothing may unwind out of a plugin: no C++ exception, no panic. A plugin in Rust uses the crate clearway-plugin, which
// catches panics and answers CLEARWAY_PANICKED. An exception that leaves a plugin in spite of that ends the process.

#ifndef CLEARWAY_H
#define CLEARWAY_H

#include <stddef.h>
#include <stdint.h>

// Nobody writes to the memory any more. Set by `seal`; never taken back.
#define CLEARWAY_MEMORY_SEALED 1

// The host and the plugin see the same memory at the same time, and both may write while it is not sealed.
#define CLEARWAY_MEMORY_SHARED 2

// The memory is the host's own, lent to the plugin.
#define CLEARWAY_MEMORY_LENT 4

// Asked of `allocate`: the memory is to hold zeros. Without it, it holds what it held when it was last used.
#define CLEARWAY_MEMORY_ZEROED 8

// On the thread that calls, which waits: for what takes microseconds. Where the host calls from several threads, several run
// at once.
#define CLEARWAY_RUN_DIRECT 0

// On one of the plugin's pool of threads; several may run at once, in no order.
#define CLEARWAY_RUN_POOL 1

// On a thread of its own, named by `queue`: one after the other, in the order in which they were sent. May block.
#define CLEARWAY_RUN_SERIAL 2

// The major version: two sides of different ones do not talk.
#define CLEARWAY_ABI_MAJOR 1

// The minor version: a larger one has more at the end of `clearway_host`, and is otherwise the same.
#define CLEARWAY_ABI_MINOR 0

// Details, for who looks for a fault.
#define CLEARWAY_LOG_DEBUG 0

// Worth knowing.
#define CLEARWAY_LOG_INFO 1

// Something is wrong, and the plugin goes on.
#define CLEARWAY_LOG_WARNING 2

// Something failed.
#define CLEARWAY_LOG_ERROR 3

// The answer to a message: `tag`, `status`; `content`, or `text` where the status is not `CLEARWAY_OK`.
#define CLEARWAY_EVENT_ANSWER 1

// An event of a stream: `tag`, `handle` (the stream), `dropped` (events lost before it), `content`.
#define CLEARWAY_EVENT_ITEM 2

// A stream has ended: `tag`, `handle`, `dropped`, `status`, `text`.
#define CLEARWAY_EVENT_END 3

// A message of the plugin's: `text` (the channel's name), `content`, `handle` (for `clearway_answer`; 0 where no answer is wanted).
#define CLEARWAY_EVENT_MESSAGE 4

// What the plugin says to who runs it: `handle` (`CLEARWAY_LOG_...`), `text`.
#define CLEARWAY_EVENT_LOG 5

// Nothing: the answer of `clearway_channel_call` is null.
#define CLEARWAY_EVENT_NONE 0

// The answer of `clearway_channel_call` is the memory that was given, all of it.
#define CLEARWAY_EVENT_BACK 6

// The plugin is told to wait: nothing is lost.
#define CLEARWAY_WHEN_FULL_WAIT 0

// The stream ends with `CLEARWAY_OVERFLOW`.
#define CLEARWAY_WHEN_FULL_FAIL 1

// The oldest event that was not read is dropped.
#define CLEARWAY_WHEN_FULL_DROP_OLDEST 2

// The event that finds no room is dropped.
#define CLEARWAY_WHEN_FULL_DROP_NEWEST 3

// How a call went: `CLEARWAY_OK`, or why nothing has happened.
typedef int32_t clearway_status;

// One reference to a block of memory; 0 is none. It stays its holder's: what is given it takes a reference of its own where
// it needs the memory for longer than the call. Released once, on any thread; the block goes with its last reference. A
// reference that was released is `CLEARWAY_STALE` for ever after: it has a generation.
typedef uint64_t clearway_memory;

// The bytes of a message, a reply or an event. A null content has no bytes at all: `data` null, `size` 0, `memory` 0; a null
// pointer to a content means the same.
//
// Received: lent for the time of the call, `memory` and `attachments` with it. Who wants to keep one retains it.
//
// Given: bytes without `memory` are copied before the call returns. With `memory` nothing is copied: the bytes must lie in
// it (`data` null means all of it), and the receiver takes references of its own. The caller keeps its own, and releases
// them when it likes, whatever the call returns. What was received can be given on as it is.
typedef struct clearway_content {
  // The first byte.
  const uint8_t *data;
  // Bytes.
  size_t size;
  // The memory in which the bytes stand, or 0.
  clearway_memory memory;
  // Further memories that go along, not copied; null where there are none. 32 at most.
  const clearway_memory *attachments;
  // How many.
  size_t attachments_count;
} clearway_content;

// UTF-8 text of `size` bytes, not ended by a zero. Lent for the time of the call in which it stands. `data` may be null
// where `size` is 0. Bytes that are not UTF-8 are replaced where text is shown, and refused where it is a name.
typedef struct clearway_text {
  // The first byte.
  const char *data;
  // Bytes.
  size_t size;
} clearway_text;

// One thing that a plugin has for its host. Give it back with `clearway_event_release` when it was looked at.
typedef struct clearway_event {
  // `CLEARWAY_EVENT_...`.
  uint32_t kind;
  // How it went.
  clearway_status status;
  // What the host has called the message or the listener.
  uint64_t tag;
  // See the kind.
  uint64_t handle;
  // Events of the stream that were dropped.
  uint64_t dropped;
  // The event's, until it is released. Retain a memory to keep it.
  struct clearway_content content;
  // The event's, until it is released.
  struct clearway_text text;
  // What holds content and text; 0 where there are none.
  uint64_t held;
  // Bytes of the content that were copied on their way into the queue: all of them, or none.
  uint64_t copied;
} clearway_event;

// Limits of one opened plugin. 0 is what the host would choose.
typedef struct clearway_options {
  // `sizeof(clearway_options)`, as the host was compiled.
  size_t size;
  // Threads of the plugin's pool at most; as many as there are processors, and 2 at least.
  uint32_t threads;
  // Calls under way at most, and as many messages to the host; 16384.
  uint32_t calls_max;
  // Listeners at a time; 1024.
  uint32_t streams_max;
  // 0.
  uint32_t reserved;
} clearway_options;

// One opened plugin. It names the plugin in what it asks of the host; `CLEARWAY_STALE` once it is closed.
typedef uint64_t clearway_plugin_id;

// Called on any thread when there is something to drain and was nothing before. Must only wake whoever drains.
typedef void (*clearway_wake)(void *context);

// What a plugin's calls have cost since it was opened.
typedef struct clearway_stats {
  // Messages sent to the plugin, and by it.
  uint64_t messages;
  // Events that were read.
  uint64_t events;
  // Events that were dropped.
  uint64_t events_dropped;
  // Messages, answers and events whose bytes were copied.
  uint64_t copies;
  // Bytes of those.
  uint64_t copied_bytes;
  // Calls under way now.
  uint64_t calls;
  // Listeners now.
  uint64_t streams;
  // How long queued calls waited for their thread: the median, in nanoseconds.
  uint64_t wait_ns_p50;
  // The same, of which one in a hundred waited longer.
  uint64_t wait_ns_p99;
  // The longest.
  uint64_t wait_ns_max;
  // How long queued calls ran: the median, in nanoseconds.
  uint64_t run_ns_p50;
  // The same, of which one in a hundred ran longer.
  uint64_t run_ns_p99;
  // The longest.
  uint64_t run_ns_max;
  // Of the whole process: memories from the slab pool that are in use.
  uint64_t memories;
  // Of the whole process: bytes of those.
  uint64_t memory_bytes;
  // Of the whole process: bytes that the slab pool keeps for the next user.
  uint64_t kept_bytes;
} clearway_stats;

// The right to answer one message, once, on any thread; 0 where no answer is wanted.
typedef uint64_t clearway_reply;

// A channel of one opened plugin. `CLEARWAY_STALE` once the plugin was freed.
typedef uint64_t clearway_channel;

// How much of a stream may wait, and be read.
typedef struct clearway_window {
  // Events that may wait: 1 and more.
  uint32_t items;
  // `CLEARWAY_WHEN_FULL_...`: what is lost beyond that.
  uint32_t when_full;
  // Bytes that may wait, attachments counted; one event may be larger where it is the only one.
  uint64_t bytes;
  // Events that may be read before credit is given; `UINT64_MAX` for no limit.
  uint64_t credit;
} clearway_window;

// One listener of an event source, from `on_listen` until it has ended or was cancelled.
typedef uint64_t clearway_stream;

// Where the bytes of a memory are. Valid while the reference `memory` is.
typedef struct clearway_view {
  // The reference that was looked at. A view is no reference of its own.
  clearway_memory memory;
  // The first byte; not null, also where `size` is 0.
  uint8_t *data;
  // Bytes.
  size_t size;
  // `CLEARWAY_MEMORY_...`.
  uint32_t flags;
  // 0.
  uint32_t reserved;
} clearway_view;

// Called once when the last reference to adopted or lent memory is released, on the thread that released it.
typedef void (*clearway_release_memory)(void *context, uint8_t *data, size_t size);

// What a thread of the host's waits at: for plugins that have something to drain, and for memory that was lent and comes back.
typedef uint64_t clearway_waiter;

// Handles a message. `message` is lent until the return. Answers by `reply`, now or later, from any thread; a status
// other than `CLEARWAY_OK` answers in its place where that has not happened. Must not unwind.
typedef clearway_status (*clearway_on_message)(void *context,
                                               const struct clearway_content *message,
                                               clearway_reply reply);

// Somebody listens: `stream` takes events from now on, from any thread. A status other than `CLEARWAY_OK` refuses, and
// ends the stream.
typedef clearway_status (*clearway_on_listen)(void *context,
                                              const struct clearway_content *arguments,
                                              clearway_stream stream);

// About a stream: it was cancelled, or it has room again.
typedef void (*clearway_on_stream)(void *context, clearway_stream stream);

// Called once when a handler or a source is taken away and no call is in it: frees `context`.
typedef void (*clearway_on_drop)(void *context);

// Called with the answer to what the plugin sent: `status` says how it went, `answer` is lent until the return. Runs
// on the plugin's pool, once.
typedef void (*clearway_on_answer)(void *context, clearway_status status, const struct clearway_content *answer);

// A handler of a channel's messages. Copied by the call that takes it.
typedef struct clearway_handler {
  // `sizeof(clearway_handler)`, as the plugin was compiled.
  size_t size;
  // The channel's name: 1 to 256 bytes.
  struct clearway_text channel;
  // Where it runs: `CLEARWAY_RUN_...`.
  uint32_t runs;
  // 0.
  uint32_t reserved;
  // The queue's name with `CLEARWAY_RUN_SERIAL`: 1 to 256 bytes. Handlers and sources that name the same queue share it.
  struct clearway_text queue;
  // Given to each call.
  void *context;
  // Handles a message; must be there.
  clearway_on_message on_message;
  // May be null.
  clearway_on_drop on_drop;
} clearway_handler;

// A source of a channel's events. Copied by the call that takes it.
typedef struct clearway_source {
  // `sizeof(clearway_source)`, as the plugin was compiled.
  size_t size;
  // The channel's name: 1 to 256 bytes.
  struct clearway_text channel;
  // Where the callbacks run: `CLEARWAY_RUN_...`.
  uint32_t runs;
  // 0.
  uint32_t reserved;
  // The queue's name with `CLEARWAY_RUN_SERIAL`.
  struct clearway_text queue;
  // Given to each call.
  void *context;
  // Somebody listens; must be there.
  clearway_on_listen on_listen;
  // Called once when the listener has gone: emit no more. Not called when the plugin ended the stream itself, or refused
  // it. May be null.
  clearway_on_stream on_cancel;
  // Called when an emit was `CLEARWAY_FULL` and half of the queue is free again. May be null.
  clearway_on_stream on_room;
  // May be null.
  clearway_on_drop on_drop;
} clearway_source;

// What the host does for a plugin. The table is there until the process ends; any function may be called from any thread
// at any time, with any arguments whose pointers can be read: what is wrong is refused by a status. None of them waits for
// the host's thread.
//
// A function that stands after the end of a smaller, older host's table is not there: compare `size` with
// `offsetof(clearway_host, function)` before you use what came with a later minor version.
typedef struct clearway_host {
  // Bytes of this table, as the host was compiled.
  size_t size;
  // `CLEARWAY_ABI_MAJOR` of the host. A plugin that was built for another returns `CLEARWAY_VERSION` from its init.
  uint32_t abi_major;
  // `CLEARWAY_ABI_MINOR` of the host.
  uint32_t abi_minor;
  // New memory of `size` bytes, from pooled slabs whose pages were touched before. `flags`: 0 or
  // `CLEARWAY_MEMORY_ZEROED`. The reference in `view` is the caller's. May allocate.
  clearway_status (*allocate)(clearway_plugin_id plugin, size_t size, uint32_t flags, struct clearway_view *view);
  // Makes memory of the plugin's own known to the host, copying nothing. `release` is called when the last reference
  // goes, maybe after the plugin was closed (its code stays loaded). The reference in `view` is the caller's.
  clearway_status (*adopt)(clearway_plugin_id plugin,
                           uint8_t *data,
                           size_t size,
                           uint32_t flags,
                           clearway_release_memory release,
                           void *context,
                           struct clearway_view *view);
  // Where the bytes of a memory are.
  clearway_status (*view)(clearway_memory memory, struct clearway_view *view);
  // Another reference to the same memory, which is the caller's.
  clearway_status (*retain)(clearway_memory memory, clearway_memory *another);
  // Gives a reference up. The last one frees the memory, or gives it back to whom it belongs.
  clearway_status (*release)(clearway_memory memory);
  // Promises that nobody writes to the memory any more. Cannot be taken back.
  clearway_status (*seal)(clearway_memory memory);
  // Registers a handler. `CLEARWAY_ALREADY_EXISTS` where the channel has one.
  clearway_status (*handle)(clearway_plugin_id plugin, const struct clearway_handler *handler);
  // Takes a channel's handler away. Messages that wait for it are answered `CLEARWAY_NO_HANDLER`; its `on_drop` is called
  // when no call is in it.
  clearway_status (*unhandle)(clearway_plugin_id plugin, struct clearway_text channel);
  // Answers a message. `CLEARWAY_STALE` where it was answered before, or nobody waits any more.
  clearway_status (*reply)(clearway_reply reply, const struct clearway_content *content);
  // Answers a message with a status other than `CLEARWAY_OK` and `CLEARWAY_PENDING`, and a text for people.
  clearway_status (*reply_error)(clearway_reply reply, clearway_status status, struct clearway_text text);
  // `CLEARWAY_OK` while somebody waits for this answer, else `CLEARWAY_CANCELLED` or `CLEARWAY_STALE`.
  clearway_status (*wanted)(clearway_reply reply);
  // Sends a message to the host. Copies bytes without a memory. `on_answer` may be null: then no answer is wanted.
  // `CLEARWAY_FULL` where too many are under way.
  clearway_status (*send)(clearway_plugin_id plugin,
                          struct clearway_text channel,
                          const struct clearway_content *content,
                          clearway_on_answer on_answer,
                          void *context);
  // Registers a source of events. `CLEARWAY_ALREADY_EXISTS` where the channel has one.
  clearway_status (*source)(clearway_plugin_id plugin, const struct clearway_source *source);
  // Takes a channel's source away, and ends its streams.
  clearway_status (*unsource)(clearway_plugin_id plugin, struct clearway_text channel);
  // Emits an event. `CLEARWAY_FULL`: the queue is full and the listener wants to lose nothing; `on_room` follows. With a
  // policy that drops, it is `CLEARWAY_OK` and the host counts what was dropped. `CLEARWAY_STALE`: nobody listens any more.
  clearway_status (*emit)(clearway_stream stream, const struct clearway_content *content);
  // Ends a stream: what was emitted before still arrives.
  clearway_status (*end)(clearway_stream stream);
  // Ends a stream with an error.
  clearway_status (*end_error)(clearway_stream stream, clearway_status status, struct clearway_text text);
  // Says something to who runs the host: `level` is `CLEARWAY_LOG_...`. Longer than 4096 bytes is cut. Never waits: what
  // does not fit is counted.
  clearway_status (*log)(clearway_plugin_id plugin, uint32_t level, struct clearway_text text);
} clearway_host;

// Called once when a plugin closes.
typedef void (*clearway_on_close)(void *context);

// What a plugin is. The host fills in `size` and `id`; the plugin's init fills in the rest.
typedef struct clearway_plugin {
  // Bytes of this struct as the host was compiled; write nothing beyond.
  size_t size;
  // This plugin, for the functions of the table.
  clearway_plugin_id id;
  // To be set to `CLEARWAY_ABI_MAJOR` and `CLEARWAY_ABI_MINOR` as the plugin was compiled.
  uint32_t abi_major;
  // See `abi_major`.
  uint32_t abi_minor;
  // Given to `on_close`. Each opening has its own.
  void *context;
  // Called once, after the last handler has returned and no more will be called, on the thread that closes. May be null.
  clearway_on_close on_close;
} clearway_plugin;

// The one function that a plugin exports, as `clearway_plugin_init`. Registers handlers and sources; may be called again
// for another opening, from another thread. A status other than `CLEARWAY_OK` refuses: what was registered is taken away
// and `on_close` is not called. A text for people goes by `log`.
typedef clearway_status (*clearway_init)(const struct clearway_host *host, struct clearway_plugin *plugin);

// Done.
#define CLEARWAY_OK 0

// Taken, and not answered yet: the answer comes later, as an event.
#define CLEARWAY_PENDING 1

// A null pointer, a length that cannot be, or a value out of its range.
#define CLEARWAY_INVALID_ARGUMENT 2

// The handle is of something that is no more (released, answered, ended, closed), or never was.
#define CLEARWAY_STALE 3

// Memory could not be had.
#define CLEARWAY_OUT_OF_MEMORY 4

// More bytes, references or names than the host's limits allow.
#define CLEARWAY_TOO_LARGE 5

// No room now: a stream's queue or the calls in flight are at their limit. Try again when told that there is room.
#define CLEARWAY_FULL 6

// The plugin is closed or closing.
#define CLEARWAY_CLOSED 7

// Nobody handles messages of this channel, or nothing emits events there.
#define CLEARWAY_NO_HANDLER 8

// The channel has a handler, or a source, already.
#define CLEARWAY_ALREADY_EXISTS 9

// The two sides were built for different major versions of this header.
#define CLEARWAY_VERSION 10

// The library could not be loaded.
#define CLEARWAY_LOAD_FAILED 11

// The library exports no `clearway_plugin_init`.
#define CLEARWAY_NOT_A_PLUGIN 12

// The plugin's `clearway_plugin_init` refused.
#define CLEARWAY_INIT_FAILED 13

// The handler panicked. The plugin lives on.
#define CLEARWAY_PANICKED 14

// The handler does not know the method that was called.
#define CLEARWAY_NOT_IMPLEMENTED 15

// The handler failed; its text says how.
#define CLEARWAY_FAILED 16

// The caller has given up.
#define CLEARWAY_CANCELLED 17

// Not done within the time given.
#define CLEARWAY_TIMEOUT 18

// The queue of a stream was full and its policy is to fail.
#define CLEARWAY_OVERFLOW 19

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Gives the content and text of `count` events back, as `clearway_event_release` does; those that hold nothing and that were released are
// passed over.
clearway_status clearway_events_release(struct clearway_event *events,
                                        size_t count);

// Gives an event's content and text back. `CLEARWAY_STALE` where that was done before; null and an event that holds nothing are
// `CLEARWAY_OK`.
clearway_status clearway_event_release(struct clearway_event *event);

// The version of this library: `CLEARWAY_ABI_MAJOR` in the upper sixteen bits, `CLEARWAY_ABI_MINOR` in the lower.
uint32_t clearway_version(void);

// Loads a library and opens the plugin in it, on this thread. `options` may be null. Where it fails, `error` (may be null) gets a
// text of at most `error_size` bytes with its final zero.
clearway_status clearway_plugin_open(struct clearway_text path,
                                     const struct clearway_options *options,
                                     clearway_plugin_id *plugin,
                                     char *error,
                                     size_t error_size);

// Closes a plugin: listeners are cancelled, what is queued still runs until the time is over, then whoever waits is answered
// `CLEARWAY_CLOSED`, to be drained as usual. Waits for handlers that run; `CLEARWAY_TIMEOUT` where one does not end, and then it may
// be tried again. Not from a function that is called back, of whichever plugin: a handler, a source, a wake, a release
// (`CLEARWAY_INVALID_ARGUMENT`). The library stays loaded.
clearway_status clearway_plugin_close(clearway_plugin_id id,
                                      uint32_t timeout_ms);

// Forgets a plugin after it was closed: its id is stale from now on, and what was not drained is dropped. One that is open is closed
// first, waiting for nobody, under the rule of `clearway_plugin_close`. Not from a wake (`CLEARWAY_INVALID_ARGUMENT`).
clearway_status clearway_plugin_free(clearway_plugin_id id);

// Sets what is called when there is something to drain and was nothing before; null for nothing. Returns when nobody is in the one
// before any more; not from a wake (`CLEARWAY_INVALID_ARGUMENT`).
clearway_status clearway_plugin_set_wake(clearway_plugin_id id,
                                         clearway_wake wake,
                                         void *context);

// What a plugin's calls have cost.
clearway_status clearway_plugin_stats(clearway_plugin_id id, struct clearway_stats *stats);

// Sends a message. A direct handler runs on this thread before this returns. `CLEARWAY_OK`: `answer` has the answer, to be released;
// `CLEARWAY_PENDING`: it will be drained, with `tag`, and `answer->handle` is the call, for `clearway_call_give_up`. With `answer` null no answer
// is wanted. Anything else: nothing was sent. Bytes without a memory are copied where the handler is not direct. Never waits.
clearway_status clearway_plugin_send(clearway_plugin_id id,
                                     struct clearway_text channel,
                                     const struct clearway_content *content,
                                     uint64_t tag,
                                     struct clearway_event *answer);

// Nobody waits for the answer of a pending message any more: its handler may ask, and stop. It is drained all the same.
clearway_status clearway_call_give_up(clearway_plugin_id id, uint64_t call);

// Answers a message of the plugin's, once.
clearway_status clearway_answer(clearway_reply reply, const struct clearway_content *content);

// Answers a message of the plugin's with a status other than `CLEARWAY_OK`. The text may be empty.
clearway_status clearway_answer_error(clearway_reply reply, clearway_status error, struct clearway_text message);

// The number of a plugin's channel, the same each time. The channel need not have a handler yet.
clearway_status clearway_channel_find(clearway_plugin_id id, struct clearway_text name, clearway_channel *channel);

// Calls a channel's direct handler on this thread, as `clearway_plugin_send` does, for who calls often. `data` and what follows are the
// content: all null and 0 is the null message. The memory in it must not be released by another thread meanwhile.
//
// `CLEARWAY_OK`: `answer->kind` is `CLEARWAY_EVENT_NONE` where the answer is null, and `CLEARWAY_EVENT_BACK` where it is all of `memory`, which was
// given without `data`; nothing else of it is written then. An answer without memory whose bytes fit stands in `into`, which has
// `room` bytes, and is held by nobody. `CLEARWAY_PENDING`: the handler runs elsewhere or answers later, to be drained with tag 0;
// `answer->handle` is the call.
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
                                       struct clearway_text channel,
                                       const struct clearway_content *arguments,
                                       const struct clearway_window *window,
                                       uint64_t tag,
                                       clearway_stream *stream);

// So many more events may be drained. `CLEARWAY_STALE` where the stream has ended.
clearway_status clearway_stream_credit(clearway_plugin_id id, clearway_stream stream, uint64_t events);

// Listens no longer: what waits is dropped, nothing more is drained, and the source is told.
clearway_status clearway_stream_cancel(clearway_plugin_id id, clearway_stream stream);

// Takes up to `capacity` events out, 1 and more, each to be released. `CLEARWAY_PENDING`: there are more, for which nobody will wake the
// host; `CLEARWAY_OK`: that was all. Never waits.
clearway_status clearway_plugin_drain(clearway_plugin_id id,
                                      struct clearway_event *events,
                                      size_t capacity,
                                      size_t *count);

// New memory, from pooled slabs whose pages were touched before. The reference in `view` is the caller's.
clearway_status clearway_memory_allocate(size_t size, uint32_t flags, struct clearway_view *view);

// Lends memory of the host's to plugins: `release` is called once, on whichever thread gives the last reference up. The reference in
// `view` is the caller's. Copies nothing.
clearway_status clearway_memory_lend(uint8_t *data,
                                     size_t size,
                                     uint32_t flags,
                                     clearway_release_memory release,
                                     void *context,
                                     struct clearway_view *view);

// Where the bytes of a memory are.
clearway_status clearway_memory_view(clearway_memory memory, struct clearway_view *view);

// Another reference to the same memory, which is the caller's.
clearway_status clearway_memory_retain(clearway_memory memory, clearway_memory *another);

// Gives a reference up.
clearway_status clearway_memory_release(clearway_memory memory);

// Promises that nobody writes to the memory any more.
clearway_status clearway_memory_seal(clearway_memory memory);

// A new place to wait at.
clearway_status clearway_waiter_new(clearway_waiter *waiter);

// Ends it: who waits there returns `CLEARWAY_STALE`. What was lent by it stays lent, and its return is told to nobody.
clearway_status clearway_waiter_free(clearway_waiter waiter);

// Has a plugin wake it, instead of a function set by `clearway_plugin_set_wake`, and under its rules. One may be woken by several
// plugins.
clearway_status clearway_waiter_watch(clearway_waiter waiter,
                                      clearway_plugin_id id);

// Wakes who waits there, or will wait there next.
clearway_status clearway_waiter_wake(clearway_waiter waiter);

// Waits until a plugin has something to drain or lent memory has come back, `timeout_ms` at most; `UINT32_MAX` is without limit. Up to
// `capacity` tags, 1 and more, of what came back are written to `returned`. `CLEARWAY_OK`: there may be something to drain; `CLEARWAY_PENDING`: the same,
// and more has come back; `CLEARWAY_TIMEOUT`: nothing happened. Several threads may wait; a wake is for all that wait just then.
clearway_status clearway_waiter_wait(clearway_waiter waiter,
                                     uint32_t timeout_ms,
                                     uint64_t *returned,
                                     size_t capacity,
                                     size_t *count);

// Lends memory of the host's to plugins, as `clearway_memory_lend` does; when the last reference is given up, `tag` comes back by
// `clearway_waiter_wait`. The reference in `view` is the caller's. `flags`: 0, `CLEARWAY_MEMORY_SHARED`, `CLEARWAY_MEMORY_SEALED`. Copies nothing.
clearway_status clearway_waiter_lend(clearway_waiter waiter,
                                     uint8_t *data,
                                     size_t size,
                                     uint32_t flags,
                                     uint64_t tag,
                                     struct clearway_view *view);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* CLEARWAY_H */

// Puts clearway_plugin_init among what the library exports.
#if defined(_WIN32)
#define CLEARWAY_EXPORT __declspec(dllexport)
#else
#define CLEARWAY_EXPORT __attribute__((visibility("default")))
#endif

// A string literal as a clearway_text, in an initialiser: `.channel = CLEARWAY_TEXT("echo")`.
#define CLEARWAY_TEXT(literal) {(literal), sizeof(literal) - 1}

// Declared so that the compiler compares a plugin's definition with it.
#ifdef __cplusplus
extern "C"
#endif
CLEARWAY_EXPORT clearway_status clearway_plugin_init(const clearway_host *host, clearway_plugin *plugin);
