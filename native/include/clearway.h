// SPDX-License-Identifier: MIT OR Apache-2.0
//
// clearway.h: one C ABI for native plugins, the same for every host (Node, the JVM, Swift, C). This header is for authors of
// plugins. clearway_host.h is for hosts.
//
// `make fmt` generates this file from the Rust types in native/crates; do not edit it. `make check` compares the two.
//
// A plugin is a shared library that exports
//
//     CLEARWAY_EXPORT clearway_status clearway_plugin_init(const clearway_host *host, clearway_plugin *plugin);
//
// A plugin calls only the functions of `host`, and links to no library of Clearway. Any thread may call any function of that
// table. Handles (memory, replies, streams, plugins) have generations. A handle that was released, answered or ended is
// refused with CLEARWAY_STALE, and never names another object. Pointers are lent during a call. A pointer must be null, or
// valid for its stated size. A null pointer, a wrong length, a wrong range and a misaligned pointer return a status.
//
// Each kind of handle is a struct of one uint64_t, so that the compiler refuses a reply where the code needs a memory. `{0}`
// is no handle. In the ABI such a struct is the same as that number: it has the same size, alignment, and register or stack
// slot, on x86-64 (System V), aarch64 (AAPCS64) and Windows. Other languages may declare a handle as 64 bits.
//
// Structs that may get further fields have a field `size`. They are clearway_handler, clearway_source, clearway_host and
// clearway_plugin. The side that writes such a struct sets `size` to `sizeof`, as that side was compiled. The side that reads
// it ignores fields that it does not know, and takes missing fields as 0. The other structs never change.
//
// No C++ exception and no panic may unwind out of a plugin. A plugin in Rust uses the crate clearway-plugin, which catches
// panics and answers CLEARWAY_PANICKED. An exception that leaves a plugin ends the process.

#ifndef CLEARWAY_H
#define CLEARWAY_H

#include <stddef.h>
#include <stdint.h>

// No thread writes to the memory any more. `seal` sets this flag, which cannot be cleared.
#define CLEARWAY_MEMORY_SEALED 1

// The host and the plugin see the same memory at the same time, and both may write until it is sealed.
#define CLEARWAY_MEMORY_SHARED 2

// The host owns the memory and lends it to the plugin.
#define CLEARWAY_MEMORY_LENT 4

// Requests zeroed memory from `allocate`. Without this flag, the memory may hold bytes of an earlier user.
#define CLEARWAY_MEMORY_ZEROED 8

// Callbacks run on the calling thread, which waits for them. Use this for work of microseconds. If the host calls from
// several threads, several callbacks run at the same time.
#define CLEARWAY_RUN_DIRECT 0

// Callbacks run on the plugin's pool of threads. Several may run at the same time, in any order.
#define CLEARWAY_RUN_POOL 1

// Callbacks run one after the other, in the order of sending, on the one thread of the queue that `queue` names, or on
// a thread that closes the plugin. They may block.
#define CLEARWAY_RUN_SERIAL 2

// The major version of the ABI. Two sides with different major versions cannot work together.
#define CLEARWAY_ABI_MAJOR 1

// The minor version of the ABI. A larger minor version only adds functions at the end of `clearway_host`.
#define CLEARWAY_ABI_MINOR 0

// A detail for debugging.
#define CLEARWAY_LOG_DEBUG 0

// Useful information.
#define CLEARWAY_LOG_INFO 1

// Something is wrong, and the plugin continues.
#define CLEARWAY_LOG_WARNING 2

// Something failed.
#define CLEARWAY_LOG_ERROR 3

// The status of a call. A status other than `CLEARWAY_OK` and `CLEARWAY_PENDING` says why the call failed.
typedef int32_t clearway_status;

// UTF-8 text of `size` bytes, without a terminating zero. The text is lent during the call that receives it. `data`
// may be null if `size` is 0. In text for people, invalid UTF-8 is replaced. In a name, invalid UTF-8 is refused.
typedef struct clearway_text {
  // The first byte, or null.
  const char *data;
  // The number of bytes.
  size_t size;
} clearway_text;

// One reference to a block of memory, or 0 for none. The caller of a function keeps its reference. A receiver must
// take another reference if it needs the memory after the call has returned. Release each reference once, on any
// thread. Releasing the last reference frees the block. Each reference has a generation, so later calls with a
// released reference return `CLEARWAY_STALE`.
typedef struct clearway_memory {
  uint64_t handle;
} clearway_memory;

// The address and the size of a memory. Valid until the reference in `memory` is released.
typedef struct clearway_view {
  // The reference that was viewed. A view does not hold a reference itself.
  clearway_memory memory;
  // The first byte. Not null, even if `size` is 0.
  uint8_t *data;
  // The number of bytes.
  size_t size;
  // The flags: `CLEARWAY_MEMORY_...`.
  uint32_t flags;
  // Reserved: 0.
  uint32_t reserved;
} clearway_view;

// Called once, on the thread that releases the last reference to memory registered with `adopt`, or lent to a plugin.
typedef void (*clearway_release_memory)(void *context, uint8_t *data, size_t size);

// The content of a message, a reply or an event: bytes, and attached memories. The null content has no bytes: its
// `data` is null, and its `size` and `memory` are 0. A null pointer to a content means the null content.
//
// Received content is lent during the call, with its `memory` and `attachments`. To keep a memory for longer, the
// receiver must retain it. Received content can be passed on unchanged.
//
// In given content, bytes without a `memory` must be readable during the call, and must not change: a direct handler
// reads them in place. The call copies them if the receiver needs them for longer. With a `memory`, nothing is copied:
// the bytes must lie in that memory, and a null `data` means the whole memory. The receiver takes its own references.
// The caller keeps its references, and may release them at any time, also if the call fails.
typedef struct clearway_content {
  // The first byte, or null.
  const uint8_t *data;
  // The number of bytes.
  size_t size;
  // The memory that contains the bytes, or 0.
  clearway_memory memory;
  // The attached memories, 32 at most. They are not copied. Null if there are none.
  const clearway_memory *attachments;
  // The number of attachments.
  size_t attachments_count;
} clearway_content;

// A handle that allows one answer to a message, on any thread. The handle is 0 if the sender wants no
// answer.
typedef struct clearway_reply {
  uint64_t handle;
} clearway_reply;

// One listener of an event source. The handle is valid from `on_listen` until the stream has ended or the listener has
// cancelled.
typedef struct clearway_stream {
  uint64_t handle;
} clearway_stream;

// Handles a message. `message` is lent until the function returns. Answer with `reply`, now or later, on any thread.
// Finish with the message's bytes first: lent memory may change after the answer. If the function returns a status
// other than `CLEARWAY_OK` and the message has no answer yet, that status is the answer. Must not unwind.
typedef clearway_status (*clearway_on_message)(void *context,
                                               const struct clearway_content *message,
                                               clearway_reply reply);

// Starts a listener. From now on, any thread may emit events to `stream`. `arguments` is lent until the function
// returns. A status other than `CLEARWAY_OK` refuses the listener and ends the stream.
typedef clearway_status (*clearway_on_listen)(void *context,
                                              const struct clearway_content *arguments,
                                              clearway_stream stream);

// Informs a source about a stream: the listener has cancelled, or the stream has room again.
typedef void (*clearway_on_stream)(void *context, clearway_stream stream);

// Called once, after a handler or a source was removed and its last callback has returned. The function should free
// `context`.
typedef void (*clearway_on_drop)(void *context);

// Receives the answer to a message that the plugin has sent. `status` is the result. `answer` is lent until the
// function returns. Runs once, on the plugin's pool. If the pool is closed or no thread can be started, runs on the
// thread that answers or closes.
typedef void (*clearway_on_answer)(void *context, clearway_status status, const struct clearway_content *answer);

// A handler of a channel's messages. The function that registers the handler copies this struct.
typedef struct clearway_handler {
  // Must be `sizeof(clearway_handler)`.
  size_t size;
  // The channel's name: 1 to 256 bytes.
  struct clearway_text channel;
  // Where the handler runs: `CLEARWAY_RUN_...`.
  uint32_t runs;
  // Reserved. Must be 0.
  uint32_t reserved;
  // The name of the queue for `CLEARWAY_RUN_SERIAL`: 1 to 256 bytes. Handlers and sources with the same queue name
  // share the queue.
  struct clearway_text queue;
  // The pointer that is passed to each callback.
  void *context;
  // Handles a message. Required.
  clearway_on_message on_message;
  // Called after the removal, to free `context`. May be null.
  clearway_on_drop on_drop;
} clearway_handler;

// A source of a channel's events. The function that registers the source copies this struct.
typedef struct clearway_source {
  // Must be `sizeof(clearway_source)`.
  size_t size;
  // The channel's name: 1 to 256 bytes.
  struct clearway_text channel;
  // Where the callbacks run: `CLEARWAY_RUN_...`.
  uint32_t runs;
  // Reserved. Must be 0.
  uint32_t reserved;
  // The name of the queue for `CLEARWAY_RUN_SERIAL`: 1 to 256 bytes.
  struct clearway_text queue;
  // The pointer that is passed to each callback.
  void *context;
  // Starts a listener. Required.
  clearway_on_listen on_listen;
  // Called once when the listener has cancelled. The source must emit no more events. Not called if the plugin has
  // ended the stream itself or has refused the listener. May be null.
  clearway_on_stream on_cancel;
  // Called after an emit has returned `CLEARWAY_FULL`, when half of the queue is free again. May be null.
  clearway_on_stream on_room;
  // Called after the removal, to free `context`. May be null.
  clearway_on_drop on_drop;
} clearway_source;

// The id of one opened plugin, for calls to the host. Once the plugin is closed, these calls except `log` return
// `CLEARWAY_CLOSED`. Once it is freed, all of them return `CLEARWAY_STALE`.
typedef struct clearway_plugin_id {
  uint64_t handle;
} clearway_plugin_id;

// The host's functions for a plugin. The table lives until the process ends. Any thread may call any function at any
// time. Pointers must be null or valid. Any other wrong argument returns a status. No function waits for the host's
// thread.
//
// The table of an older host is smaller and lacks later functions. Before you use a function of a later minor version,
// compare `size` with `offsetof(clearway_host, function)`.
typedef struct clearway_host {
  // The size of the host's table, in bytes.
  size_t size;
  // The host's `CLEARWAY_ABI_MAJOR`. A plugin that was built for another one must return `CLEARWAY_VERSION` from its
  // init function.
  uint32_t abi_major;
  // The host's `CLEARWAY_ABI_MINOR`.
  uint32_t abi_minor;
  // Allocates `size` bytes. Sizes from 4 KB on come from pooled slabs, whose pages are already mapped. `flags` is 0
  // or `CLEARWAY_MEMORY_ZEROED`. The caller owns the reference in `view`.
  clearway_status (*allocate)(clearway_plugin_id plugin, size_t size, uint32_t flags, struct clearway_view *view);
  // Registers memory of the plugin with the host. Does not copy. `release` is called when the last reference is
  // released, possibly after the plugin was closed. The plugin's code stays loaded for that. The caller owns the
  // reference in `view`.
  clearway_status (*adopt)(clearway_plugin_id plugin,
                           uint8_t *data,
                           size_t size,
                           uint32_t flags,
                           clearway_release_memory release,
                           void *context,
                           struct clearway_view *view);
  // Returns the address and the size of a memory.
  clearway_status (*view)(clearway_memory memory, struct clearway_view *view);
  // Makes another reference to the same memory. The caller owns the new reference.
  clearway_status (*retain)(clearway_memory memory, clearway_memory *another);
  // Releases a reference. Releasing the last reference frees the memory, or returns it to its owner.
  clearway_status (*release)(clearway_memory memory);
  // Seals the memory: the holders promise that no thread writes to it any more. Cannot be undone.
  clearway_status (*seal)(clearway_memory memory);
  // Registers a handler. Returns `CLEARWAY_ALREADY_EXISTS` if the channel has a handler.
  clearway_status (*handle)(clearway_plugin_id plugin, const struct clearway_handler *handler);
  // Removes a channel's handler. Queued messages for the handler are answered with `CLEARWAY_NO_HANDLER`. The
  // handler's `on_drop` is called after its last call has returned.
  clearway_status (*unhandle)(clearway_plugin_id plugin, struct clearway_text channel);
  // Answers a message. Returns `CLEARWAY_STALE` if the message was answered before, for example by closing the
  // plugin.
  clearway_status (*reply)(clearway_reply reply, const struct clearway_content *content);
  // Answers a message with a status other than `CLEARWAY_OK` and `CLEARWAY_PENDING`, and with a text for people.
  clearway_status (*reply_error)(clearway_reply reply, clearway_status status, struct clearway_text text);
  // Returns `CLEARWAY_OK` while the caller waits for this answer, `CLEARWAY_CANCELLED` after the caller has given
  // up, and `CLEARWAY_STALE` after the message was answered.
  clearway_status (*wanted)(clearway_reply reply);
  // Sends a message to the host. Copies bytes that are not in a memory. A null `on_answer` means that the plugin
  // wants no answer. Returns `CLEARWAY_FULL` if too many messages are in flight.
  clearway_status (*send)(clearway_plugin_id plugin,
                          struct clearway_text channel,
                          const struct clearway_content *content,
                          clearway_on_answer on_answer,
                          void *context);
  // Registers a source of events. Returns `CLEARWAY_ALREADY_EXISTS` if the channel has a source.
  clearway_status (*source)(clearway_plugin_id plugin, const struct clearway_source *source);
  // Removes a channel's source, and ends its streams.
  clearway_status (*unsource)(clearway_plugin_id plugin, struct clearway_text channel);
  // Emits an event. If the queue is full, the listener's policy decides. If the policy is to wait, returns
  // `CLEARWAY_FULL`, and calls `on_room` later. If the policy is to drop events, returns `CLEARWAY_OK`, and the host
  // counts the dropped events. If the policy is to fail, ends the stream and returns `CLEARWAY_OVERFLOW`. Returns
  // `CLEARWAY_STALE` if the stream has no listener any more.
  clearway_status (*emit)(clearway_stream stream, const struct clearway_content *content);
  // Ends a stream. The host still reads the events that were emitted before.
  clearway_status (*end)(clearway_stream stream);
  // Ends a stream with a status and a text for people.
  clearway_status (*end_error)(clearway_stream stream, clearway_status status, struct clearway_text text);
  // Logs a text for the person who runs the host. `level` is `CLEARWAY_LOG_...`. Cuts texts longer than 4096 bytes.
  // Never waits: lines that do not fit are dropped, and a later line says how many were dropped.
  clearway_status (*log)(clearway_plugin_id plugin, uint32_t level, struct clearway_text text);
} clearway_host;

// Called once, when a plugin is closed.
typedef void (*clearway_on_close)(void *context);

// A plugin's description. The host fills in `size` and `id`. The plugin's init function fills in the other fields.
typedef struct clearway_plugin {
  // The size of the host's struct, in bytes. Do not write beyond it.
  size_t size;
  // The id of this plugin, for the functions of the table.
  clearway_plugin_id id;
  // Must be `CLEARWAY_ABI_MAJOR`.
  uint32_t abi_major;
  // Must be `CLEARWAY_ABI_MINOR`.
  uint32_t abi_minor;
  // The pointer that is passed to `on_close`. Each opened plugin has its own.
  void *context;
  // Called once, on the closing thread, after the last handler has returned. No handler is called afterwards. May be
  // null. Not called if the host frees the plugin while a handler runs and no thread waits for that handler.
  clearway_on_close on_close;
} clearway_plugin;

// The only function that a plugin exports, with the name `clearway_plugin_init`. The function registers handlers and
// sources. The host may call the function again to open the plugin another time, also on another thread. A status
// other than `CLEARWAY_OK` refuses: the host removes registered handlers and sources, and does not call `on_close`.
// Use `log` to give a reason in text.
typedef clearway_status (*clearway_init)(const struct clearway_host *host, struct clearway_plugin *plugin);

// Success.
#define CLEARWAY_OK 0

// The call was accepted. The answer comes later, as an event.
#define CLEARWAY_PENDING 1

// A null pointer, an impossible length, or a value out of range.
#define CLEARWAY_INVALID_ARGUMENT 2

// The handle's object no longer exists (it was released, answered, ended or closed), or has never existed.
#define CLEARWAY_STALE 3

// The system has no memory or no thread left, or all handles are in use.
#define CLEARWAY_OUT_OF_MEMORY 4

// The call exceeds the host's limits on bytes, references or names.
#define CLEARWAY_TOO_LARGE 5

// A stream's queue is full, or the number of calls in flight or of listeners is at its limit. Try again when there is
// room. For a stream, the host calls `on_room` then.
#define CLEARWAY_FULL 6

// The plugin is closed or closing.
#define CLEARWAY_CLOSED 7

// The channel has no handler for messages, or no source of events.
#define CLEARWAY_NO_HANDLER 8

// The channel already has a handler, or already has a source.
#define CLEARWAY_ALREADY_EXISTS 9

// The host and the plugin were built for different major versions of this header.
#define CLEARWAY_VERSION 10

// The library could not be loaded.
#define CLEARWAY_LOAD_FAILED 11

// The library exports no `clearway_plugin_init`.
#define CLEARWAY_NOT_A_PLUGIN 12

// The plugin's `clearway_plugin_init` refused to open the plugin.
#define CLEARWAY_INIT_FAILED 13

// The handler panicked. The plugin still works.
#define CLEARWAY_PANICKED 14

// The handler does not know the called method.
#define CLEARWAY_NOT_IMPLEMENTED 15

// The handler failed. Its text gives the reason.
#define CLEARWAY_FAILED 16

// The caller has given up the call.
#define CLEARWAY_CANCELLED 17

// The work did not end within the given time.
#define CLEARWAY_TIMEOUT 18

// A stream's queue was full, and its policy is to fail.
#define CLEARWAY_OVERFLOW 19

#endif  /* CLEARWAY_H */

// Makes the library export clearway_plugin_init.
#if defined(_WIN32)
#define CLEARWAY_EXPORT __declspec(dllexport)
#else
#define CLEARWAY_EXPORT __attribute__((visibility("default")))
#endif

// Makes a clearway_text from a string literal, in an initialiser: `.channel = CLEARWAY_TEXT("echo")`.
#define CLEARWAY_TEXT(literal) {(literal), sizeof(literal) - 1}

// This declaration lets the compiler check the definition in a plugin.
#ifdef __cplusplus
extern "C"
#endif
CLEARWAY_EXPORT clearway_status clearway_plugin_init(const clearway_host *host, clearway_plugin *plugin);
