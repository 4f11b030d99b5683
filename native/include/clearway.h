// SPDX-License-Identifier: MIT OR Apache-2.0
//
// clearway.h: one C ABI for native plugins, the same for every host (Node, the JVM, Swift, C). This header is for authors of
// plugins; clearway_host.h is for hosts.
//
// `make fmt` generates this file from the Rust types in native/crates; do not edit it. `make check` compares them.
//
// A plugin is a shared library that exports
//
//     CLEARWAY_EXPORT clearway_status clearway_plugin_init(const clearway_host *host, clearway_plugin *plugin);
//
// and calls only the functions of `host`: it links to no library of Clearway's. All functions of that table may be called
// from any thread. Handles (memory, replies, streams, plugins) have generations: a handle that was released, answered or
// ended is refused as CLEARWAY_STALE, and never names another object. Pointers are lent during a call, and are null or
// valid for what they announce; null, wrong lengths, wrong ranges and misalignment return a status.
//
// Each kind of handle is a struct of one uint64_t, so that the compiler refuses a reply where a memory is wanted; `{0}` is
// none. In the ABI such a struct is that number: the same size, alignment, and register or stack slot, by the calling
// conventions of System V on x86-64, AAPCS64 on aarch64, and Windows on both. Other languages may declare it as 64 bits.
//
// Structs that may get further fields carry their size: `size` in clearway_handler, clearway_source, clearway_host and
// clearway_plugin is `sizeof` as their writer was compiled. The others never change.
//
// Nothing may unwind out of a plugin: no C++ exception, no panic. A plugin in Rust uses the crate clearway-plugin, which
// catches panics and answers CLEARWAY_PANICKED. An exception that leaves a plugin nevertheless ends the process.

#ifndef CLEARWAY_H
#define CLEARWAY_H

#include <stddef.h>
#include <stdint.h>

// No thread writes to the memory any more. Set by `seal`; never undone.
#define CLEARWAY_MEMORY_SEALED 1

// The host and the plugin see the same memory at the same time, and both may write until it is sealed.
#define CLEARWAY_MEMORY_SHARED 2

// The host owns the memory and lends it to the plugin.
#define CLEARWAY_MEMORY_LENT 4

// Requests zeroed memory from `allocate`. Without it, the memory may hold bytes of an earlier user.
#define CLEARWAY_MEMORY_ZEROED 8

// Run on the calling thread, which waits: for work of microseconds. If the host calls from several threads, several calls
// run at once.
#define CLEARWAY_RUN_DIRECT 0

// Run on the plugin's pool of threads; several calls may run at once, in any order.
#define CLEARWAY_RUN_POOL 1

// Run on a separate thread, named by `queue`: one call after the other, in the order of sending. May block.
#define CLEARWAY_RUN_SERIAL 2

// The major version. Two sides with different major versions cannot work together.
#define CLEARWAY_ABI_MAJOR 1

// The minor version. A larger one adds functions at the end of `clearway_host`, and is otherwise the same.
#define CLEARWAY_ABI_MINOR 0

// Details for debugging.
#define CLEARWAY_LOG_DEBUG 0

// Useful information.
#define CLEARWAY_LOG_INFO 1

// Something is wrong, and the plugin goes on.
#define CLEARWAY_LOG_WARNING 2

// Something failed.
#define CLEARWAY_LOG_ERROR 3

// The status of a call: `CLEARWAY_OK`, or the reason that nothing has happened.
typedef int32_t clearway_status;

// UTF-8 text of `size` bytes, without a terminating zero. Lent during the call that it is passed to. `data` may be null if
// `size` is 0. Invalid UTF-8 is replaced in text for people, and refused in a name.
typedef struct clearway_text {
  // The first byte.
  const char *data;
  // Bytes.
  size_t size;
} clearway_text;

// One reference to a block of memory; 0 is none. The holder keeps its reference: a receiver takes another one if it needs
// the memory for longer than the call. Release it once, on any thread; the block is freed with its last reference. A
// released reference is `CLEARWAY_STALE` for ever, because it has a generation.
typedef struct clearway_memory {
  uint64_t handle;
} clearway_memory;

// The address and the size of a memory. Valid as long as the reference `memory`.
typedef struct clearway_view {
  // The viewed reference. A view is not a reference itself.
  clearway_memory memory;
  // The first byte; not null, even if `size` is 0.
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

// The bytes of a message, a reply or an event. A null content has no bytes: `data` null, `size` 0, `memory` 0. A null
// pointer to a content means the same.
//
// Received content is lent during the call, with its `memory` and `attachments`. Retain a memory to keep it.
//
// Given content: bytes without `memory` are copied before the call returns. With `memory` nothing is copied: the bytes
// must lie in it (`data` null means all of it), and the receiver takes its own references. The caller keeps its
// references, and may release them at any time, whatever the call returns. Received content can be passed on unchanged.
typedef struct clearway_content {
  // The first byte.
  const uint8_t *data;
  // Bytes.
  size_t size;
  // The memory that contains the bytes, or 0.
  clearway_memory memory;
  // Attached memories, which are not copied; null if there are none. 32 at most.
  const clearway_memory *attachments;
  // The number of attachments.
  size_t attachments_count;
} clearway_content;

// The right to answer one message, once, on any thread; 0 if no answer is wanted.
typedef struct clearway_reply {
  uint64_t handle;
} clearway_reply;

// One listener of an event source, from `on_listen` until it has ended or was cancelled.
typedef struct clearway_stream {
  uint64_t handle;
} clearway_stream;

// Handles a message. `message` is lent until the return. Answer by `reply`, now or later, from any thread. If the message
// is not answered, a returned status other than `CLEARWAY_OK` is the answer. Must not unwind.
typedef clearway_status (*clearway_on_message)(void *context,
                                               const struct clearway_content *message,
                                               clearway_reply reply);

// Starts a listener: `stream` takes events from now on, from any thread. A status other than `CLEARWAY_OK` refuses, and
// ends the stream.
typedef clearway_status (*clearway_on_listen)(void *context,
                                              const struct clearway_content *arguments,
                                              clearway_stream stream);

// Reports on a stream: it was cancelled, or it has room again.
typedef void (*clearway_on_stream)(void *context, clearway_stream stream);

// Called once when a handler or a source was removed and no call is in it. Frees `context`.
typedef void (*clearway_on_drop)(void *context);

// Called with the answer to a message that the plugin sent. `status` is the result; `answer` is lent until the return.
// Runs once, on the plugin's pool; on the answering thread if no pool thread can be started.
typedef void (*clearway_on_answer)(void *context, clearway_status status, const struct clearway_content *answer);

// A handler of a channel's messages. The function that registers it copies it.
typedef struct clearway_handler {
  // `sizeof(clearway_handler)`, as the plugin was compiled.
  size_t size;
  // The channel's name: 1 to 256 bytes.
  struct clearway_text channel;
  // Where it runs: `CLEARWAY_RUN_...`.
  uint32_t runs;
  // 0.
  uint32_t reserved;
  // The queue's name with `CLEARWAY_RUN_SERIAL`: 1 to 256 bytes. Handlers and sources with the same queue name share the
  // queue.
  struct clearway_text queue;
  // Passed to each call.
  void *context;
  // Handles a message; required.
  clearway_on_message on_message;
  // May be null.
  clearway_on_drop on_drop;
} clearway_handler;

// A source of a channel's events. The function that registers it copies it.
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
  // Passed to each call.
  void *context;
  // Starts a listener; required.
  clearway_on_listen on_listen;
  // Called once when the listener has cancelled: emit no more. Not called if the plugin ended the stream itself, or refused
  // it. May be null.
  clearway_on_stream on_cancel;
  // Called when half of the queue is free again after an emit returned `CLEARWAY_FULL`. May be null.
  clearway_on_stream on_room;
  // May be null.
  clearway_on_drop on_drop;
} clearway_source;

// One opened plugin, which identifies it in calls to the host. `CLEARWAY_CLOSED` once it is closed, `CLEARWAY_STALE` once
// it is freed.
typedef struct clearway_plugin_id {
  uint64_t handle;
} clearway_plugin_id;

// The host's functions for a plugin. The table lives until the process ends. Any function may be called from any thread at
// any time, with any arguments whose pointers are readable: wrong arguments return a status. No function waits for the
// host's thread.
//
// The table of an older host is smaller and lacks later functions: compare `size` with `offsetof(clearway_host, function)`
// before you use a function of a later minor version.
typedef struct clearway_host {
  // Bytes of this table, as the host was compiled.
  size_t size;
  // `CLEARWAY_ABI_MAJOR` of the host. A plugin that was built for another one returns `CLEARWAY_VERSION` from its init.
  uint32_t abi_major;
  // `CLEARWAY_ABI_MINOR` of the host.
  uint32_t abi_minor;
  // Allocates `size` bytes, from 4 KB on from pooled slabs, whose pages are mapped already. `flags`: 0 or `CLEARWAY_MEMORY_ZEROED`. The
  // caller owns the reference in `view`.
  clearway_status (*allocate)(clearway_plugin_id plugin, size_t size, uint32_t flags, struct clearway_view *view);
  // Registers memory of the plugin with the host, without copying. `release` is called when the last reference goes,
  // possibly after the plugin was closed (its code stays loaded). The caller owns the reference in `view`.
  clearway_status (*adopt)(clearway_plugin_id plugin,
                           uint8_t *data,
                           size_t size,
                           uint32_t flags,
                           clearway_release_memory release,
                           void *context,
                           struct clearway_view *view);
  // Returns the address and the size of a memory.
  clearway_status (*view)(clearway_memory memory, struct clearway_view *view);
  // Makes another reference to the same memory, which the caller owns.
  clearway_status (*retain)(clearway_memory memory, clearway_memory *another);
  // Releases a reference. The last one frees the memory, or returns it to its owner.
  clearway_status (*release)(clearway_memory memory);
  // Seals the memory: a promise that no thread writes to it any more. Cannot be undone.
  clearway_status (*seal)(clearway_memory memory);
  // Registers a handler. Returns `CLEARWAY_ALREADY_EXISTS` if the channel has one.
  clearway_status (*handle)(clearway_plugin_id plugin, const struct clearway_handler *handler);
  // Removes a channel's handler. Messages that wait for it are answered `CLEARWAY_NO_HANDLER`. Its `on_drop` is called when
  // no call is in it.
  clearway_status (*unhandle)(clearway_plugin_id plugin, struct clearway_text channel);
  // Answers a message. Returns `CLEARWAY_STALE` if it was answered before, for example because the plugin closed.
  clearway_status (*reply)(clearway_reply reply, const struct clearway_content *content);
  // Answers a message with a status other than `CLEARWAY_OK` and `CLEARWAY_PENDING`, and a text for people.
  clearway_status (*reply_error)(clearway_reply reply, clearway_status status, struct clearway_text text);
  // Returns `CLEARWAY_OK` while the caller waits for this answer, else `CLEARWAY_CANCELLED` or `CLEARWAY_STALE`.
  clearway_status (*wanted)(clearway_reply reply);
  // Sends a message to the host. Copies bytes without a memory. A null `on_answer` means that no answer is wanted. Returns
  // `CLEARWAY_FULL` if too many messages are in flight.
  clearway_status (*send)(clearway_plugin_id plugin,
                          struct clearway_text channel,
                          const struct clearway_content *content,
                          clearway_on_answer on_answer,
                          void *context);
  // Registers a source of events. Returns `CLEARWAY_ALREADY_EXISTS` if the channel has one.
  clearway_status (*source)(clearway_plugin_id plugin, const struct clearway_source *source);
  // Removes a channel's source, and ends its streams.
  clearway_status (*unsource)(clearway_plugin_id plugin, struct clearway_text channel);
  // Emits an event. `CLEARWAY_FULL`: the queue is full and the listener must not lose events; `on_room` follows. With a
  // policy that drops, it returns `CLEARWAY_OK` and the host counts the dropped events. `CLEARWAY_STALE`: the stream has no
  // listener any more.
  clearway_status (*emit)(clearway_stream stream, const struct clearway_content *content);
  // Ends a stream. Events that were emitted before still arrive.
  clearway_status (*end)(clearway_stream stream);
  // Ends a stream with an error.
  clearway_status (*end_error)(clearway_stream stream, clearway_status status, struct clearway_text text);
  // Logs a text for the person who runs the host: `level` is `CLEARWAY_LOG_...`. Texts longer than 4096 bytes are cut. Never
  // waits: lines that do not fit are dropped, and a later line says how many.
  clearway_status (*log)(clearway_plugin_id plugin, uint32_t level, struct clearway_text text);
} clearway_host;

// Called once when a plugin closes.
typedef void (*clearway_on_close)(void *context);

// A plugin's description. The host fills in `size` and `id`; the plugin's init fills in the rest.
typedef struct clearway_plugin {
  // Bytes of this struct as the host was compiled. Do not write beyond them.
  size_t size;
  // This plugin, for the functions of the table.
  clearway_plugin_id id;
  // Set this to `CLEARWAY_ABI_MAJOR`, and `abi_minor` to `CLEARWAY_ABI_MINOR`, as the plugin was compiled.
  uint32_t abi_major;
  // See `abi_major`.
  uint32_t abi_minor;
  // Passed to `on_close`. Each opening has its own.
  void *context;
  // Called once, on the closing thread, after the last handler has returned and when no further one will be called. May be
  // null.
  clearway_on_close on_close;
} clearway_plugin;

// The one function that a plugin exports, as `clearway_plugin_init`. Registers handlers and sources; may be called again
// for another opening, from another thread. A status other than `CLEARWAY_OK` refuses: registered handlers and sources are
// removed, and `on_close` is not called. Use `log` for a text for people.
typedef clearway_status (*clearway_init)(const struct clearway_host *host, struct clearway_plugin *plugin);

// Success.
#define CLEARWAY_OK 0

// Taken and not answered yet: the answer comes later, as an event.
#define CLEARWAY_PENDING 1

// A null pointer, an impossible length, or a value out of range.
#define CLEARWAY_INVALID_ARGUMENT 2

// The handle's object no longer exists (released, answered, ended, closed), or never did.
#define CLEARWAY_STALE 3

// Memory could not be allocated.
#define CLEARWAY_OUT_OF_MEMORY 4

// More bytes, references or names than the host's limits allow.
#define CLEARWAY_TOO_LARGE 5

// A stream's queue is full, or the calls in flight are at their limit. Try again when there is room; for a stream,
// `on_room` reports it.
#define CLEARWAY_FULL 6

// The plugin is closed or closing.
#define CLEARWAY_CLOSED 7

// The channel has no handler for messages, or no source of events.
#define CLEARWAY_NO_HANDLER 8

// The channel already has a handler, or a source.
#define CLEARWAY_ALREADY_EXISTS 9

// The two sides were built for different major versions of this header.
#define CLEARWAY_VERSION 10

// The library could not be loaded.
#define CLEARWAY_LOAD_FAILED 11

// The library exports no `clearway_plugin_init`.
#define CLEARWAY_NOT_A_PLUGIN 12

// The plugin's `clearway_plugin_init` refused.
#define CLEARWAY_INIT_FAILED 13

// The handler panicked. The plugin goes on.
#define CLEARWAY_PANICKED 14

// The handler does not know the called method.
#define CLEARWAY_NOT_IMPLEMENTED 15

// The handler failed; its text says why.
#define CLEARWAY_FAILED 16

// The caller has given up.
#define CLEARWAY_CANCELLED 17

// Not done within the time given.
#define CLEARWAY_TIMEOUT 18

// A stream's queue was full and its policy is to fail.
#define CLEARWAY_OVERFLOW 19

#endif  /* CLEARWAY_H */

// Exports clearway_plugin_init from the library.
#if defined(_WIN32)
#define CLEARWAY_EXPORT __declspec(dllexport)
#else
#define CLEARWAY_EXPORT __attribute__((visibility("default")))
#endif

// Makes a clearway_text from a string literal, in an initialiser: `.channel = CLEARWAY_TEXT("echo")`.
#define CLEARWAY_TEXT(literal) {(literal), sizeof(literal) - 1}

// Declared here so that the compiler checks a plugin's definition against it.
#ifdef __cplusplus
extern "C"
#endif
CLEARWAY_EXPORT clearway_status clearway_plugin_init(const clearway_host *host, clearway_plugin *plugin);
