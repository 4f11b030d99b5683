// SPDX-License-Identifier: MIT OR Apache-2.0
#include "host.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES = 64, PLUGIN = 7 };

static struct {
  char name[64];
  clearway_handler handler;
} handlers[NAMES];
static struct {
  char name[64];
  clearway_source source;
} sources[NAMES];
static unsigned handler_count, source_count;
static clearway_plugin plugin;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static answer last_answer;
static uint8_t *last_answer_bytes;
/** The number of the last message, and of the last stream. Answers to other messages and events for other streams are stale. */
static uint64_t message_number, stream_number;

typedef struct event {
  struct event *next;
  size_t size;
  clearway_memory memory;
  uint8_t bytes[];
} event;

static event *events, **events_end = &events;
static unsigned event_count, event_room;
static bool stream_open, stream_was_full;
static const clearway_source *stream_source;

static bool copy_name(char to[64], clearway_text from) {
  if (from.data == NULL || from.size == 0 || from.size >= 64) return false;
  memcpy(to, from.data, from.size);
  to[from.size] = 0;
  return true;
}

// Checks the content that a plugin passes, and copies it to `*content`. A null pointer is null content. A memory without `data` means the
// whole memory. Returns false if the bytes have an impossible address or length.
static bool read_content(const clearway_content *given, clearway_content *content) {
  clearway_view view;
  *content = given == NULL ? (clearway_content){0} : *given;
  if (content->memory.handle == 0) return content->size == 0 || (content->data != NULL && content->size <= (size_t)1 << 32);
  if (memory_view(content->memory, &view) != CLEARWAY_OK) return false;
  if (content->data == NULL) {
    content->data = view.data;
    content->size = view.size;
  }
  return content->data >= view.data && content->data <= view.data + view.size &&
         content->size <= (size_t)(view.data + view.size - content->data);
}

static clearway_status handle(clearway_plugin_id id, const clearway_handler *handler) {
  char name[64];
  if (id.handle != PLUGIN || handler == NULL || handler->on_message == NULL || !copy_name(name, handler->channel))
    return CLEARWAY_INVALID_ARGUMENT;
  if (host_has(name)) return CLEARWAY_ALREADY_EXISTS;
  memcpy(handlers[handler_count].name, name, sizeof name);
  handlers[handler_count++].handler = *handler;
  return CLEARWAY_OK;
}

static clearway_status unhandle(clearway_plugin_id id, clearway_text channel) {
  (void)id, (void)channel;
  return CLEARWAY_NO_HANDLER;
}

// Stores the answer to the last message. Returns CLEARWAY_STALE if the reply belongs to another message, or if the message was answered.
static clearway_status answer_message(clearway_reply reply, clearway_status status, const clearway_content *given) {
  clearway_content content;
  if (!read_content(given, &content)) return CLEARWAY_INVALID_ARGUMENT;
  pthread_mutex_lock(&lock);
  const bool stale = reply.handle != message_number || last_answer.answered;
  if (!stale) {
    free(last_answer_bytes);
    last_answer_bytes = NULL;
    last_answer = (answer){
        .answered = true, .status = status, .is_null = content.data == NULL && content.memory.handle == 0};
    if (content.size > 0) {
      last_answer_bytes = malloc(content.size);
      memcpy(last_answer_bytes, content.data, content.size);
      last_answer.data = last_answer_bytes;
      last_answer.size = content.size;
      last_answer.memory = content.memory;
    }
    pthread_cond_broadcast(&changed);
  }
  pthread_mutex_unlock(&lock);
  return stale ? CLEARWAY_STALE : CLEARWAY_OK;
}

static clearway_status reply_with(clearway_reply reply, const clearway_content *content) {
  return answer_message(reply, CLEARWAY_OK, content);
}

static clearway_status reply_error(clearway_reply reply, clearway_status status, clearway_text text) {
  (void)text;
  return answer_message(reply, status, NULL);
}

static clearway_status wanted(clearway_reply reply) {
  pthread_mutex_lock(&lock);
  const bool is_wanted = reply.handle == message_number && !last_answer.answered;
  pthread_mutex_unlock(&lock);
  return is_wanted ? CLEARWAY_OK : CLEARWAY_STALE;
}

// Answers each message of the plugin with the message itself, on the calling thread.
static clearway_status send_to_host(clearway_plugin_id id, clearway_text channel, const clearway_content *content,
                                    clearway_on_answer on_answer, void *context) {
  clearway_content read;
  if (id.handle != PLUGIN || channel.size == 0 || !read_content(content, &read)) return CLEARWAY_INVALID_ARGUMENT;
  if (on_answer != NULL) on_answer(context, CLEARWAY_OK, content);
  return CLEARWAY_OK;
}

static clearway_status source(clearway_plugin_id id, const clearway_source *given) {
  if (id.handle != PLUGIN || given == NULL || given->on_listen == NULL) return CLEARWAY_INVALID_ARGUMENT;
  if (!copy_name(sources[source_count].name, given->channel)) return CLEARWAY_INVALID_ARGUMENT;
  sources[source_count++].source = *given;
  return CLEARWAY_OK;
}

static clearway_status unsource(clearway_plugin_id id, clearway_text channel) {
  (void)id, (void)channel;
  return CLEARWAY_NO_HANDLER;
}

static clearway_status emit(clearway_stream stream, const clearway_content *given) {
  clearway_content content;
  if (!read_content(given, &content)) return CLEARWAY_INVALID_ARGUMENT;
  event *made = malloc(sizeof *made + content.size);
  *made = (event){.size = content.size};
  if (content.size > 0) memcpy(made->bytes, content.data, content.size);
  if (content.memory.handle != 0) memory_retain(content.memory, &made->memory);
  pthread_mutex_lock(&lock);
  clearway_status status = stream.handle != stream_number || !stream_open ? CLEARWAY_STALE
                           : event_count >= event_room             ? CLEARWAY_FULL
                                                                   : CLEARWAY_OK;
  if (status == CLEARWAY_OK) {
    *events_end = made;
    events_end = &made->next;
    event_count++;
    pthread_cond_broadcast(&changed);
  } else if (status == CLEARWAY_FULL) {
    stream_was_full = true;
  }
  pthread_mutex_unlock(&lock);
  if (status != CLEARWAY_OK) {
    if (made->memory.handle != 0) memory_release(made->memory);
    free(made);
  }
  return status;
}

static clearway_status end(clearway_stream stream) {
  pthread_mutex_lock(&lock);
  const bool stale = stream.handle != stream_number || !stream_open;
  if (!stale) stream_open = false;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  return stale ? CLEARWAY_STALE : CLEARWAY_OK;
}

static clearway_status end_error(clearway_stream stream, clearway_status status, clearway_text text) {
  (void)status, (void)text;
  return end(stream);
}

static clearway_status log_line(clearway_plugin_id id, uint32_t level, clearway_text text) {
  if (id.handle != PLUGIN || level > CLEARWAY_LOG_ERROR || (text.data == NULL && text.size > 0)) return CLEARWAY_INVALID_ARGUMENT;
  fprintf(stderr, "plugin: %.*s\n", (int)text.size, text.data);
  return CLEARWAY_OK;
}

static const clearway_host table = {
    .size = sizeof table,      .abi_major = CLEARWAY_ABI_MAJOR, .abi_minor = CLEARWAY_ABI_MINOR,
    .allocate = memory_allocate, .adopt = memory_adopt,         .view = memory_view,
    .retain = memory_retain,   .release = memory_release,       .seal = memory_seal,
    .handle = handle,          .unhandle = unhandle,            .reply = reply_with,
    .reply_error = reply_error, .wanted = wanted,               .send = send_to_host,
    .source = source,          .unsource = unsource,            .emit = emit,
    .end = end,                .end_error = end_error,          .log = log_line,
};

void host_open(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void *symbol = library == NULL ? NULL : dlsym(library, "clearway_plugin_init");
  clearway_init init;
  // ISO C has no conversion from an object pointer to a function pointer, so this copies the pointer's bytes. POSIX allows it.
  memcpy(&init, &symbol, sizeof init);
  plugin = (clearway_plugin){.size = sizeof plugin, .id = {PLUGIN}};
  if (symbol != NULL && init(&table, &plugin) == CLEARWAY_OK && plugin.abi_major == CLEARWAY_ABI_MAJOR) return;
  fprintf(stderr, "check: %s could not be opened: %s\n", path, symbol == NULL ? dlerror() : "its init refused");
  exit(1);
}

void host_close(void) {
  for (unsigned at = 0; at < handler_count; at++)
    if (handlers[at].handler.on_drop != NULL) handlers[at].handler.on_drop(handlers[at].handler.context);
  if (plugin.on_close != NULL) plugin.on_close(plugin.context);
  handler_count = source_count = 0;
  pthread_mutex_lock(&lock);
  free(last_answer_bytes);
  last_answer_bytes = NULL;
  pthread_mutex_unlock(&lock);
}

bool host_has(const char *channel) {
  for (unsigned at = 0; at < handler_count; at++)
    if (strcmp(handlers[at].name, channel) == 0) return true;
  return false;
}

answer host_send(const char *channel, const void *data, size_t size, clearway_memory memory, clearway_memory attachment) {
  const clearway_content content = {.data = data,
                                    .size = size,
                                    .memory = memory,
                                    .attachments = attachment.handle == 0 ? NULL : &attachment,
                                    .attachments_count = attachment.handle != 0};
  for (unsigned at = 0; at < handler_count; at++) {
    if (strcmp(handlers[at].name, channel) != 0) continue;
    pthread_mutex_lock(&lock);
    const uint64_t number = ++message_number;
    last_answer = (answer){.answered = false};
    pthread_mutex_unlock(&lock);
    const clearway_status status = handlers[at].handler.on_message(handlers[at].handler.context, &content, (clearway_reply){number});
    pthread_mutex_lock(&lock);
    if (status != CLEARWAY_OK && !last_answer.answered) last_answer = (answer){.answered = true, .status = status};
    const answer given = last_answer;
    pthread_mutex_unlock(&lock);
    return given;
  }
  return (answer){.answered = true, .status = CLEARWAY_NO_HANDLER};
}

answer host_wait(void) {
  pthread_mutex_lock(&lock);
  while (!last_answer.answered) pthread_cond_wait(&changed, &lock);
  const answer given = last_answer;
  pthread_mutex_unlock(&lock);
  return given;
}

clearway_status host_listen(const char *channel, const void *data, size_t size, unsigned room) {
  for (unsigned at = 0; at < source_count; at++) {
    if (strcmp(sources[at].name, channel) != 0) continue;
    const clearway_source *found = &sources[at].source;
    pthread_mutex_lock(&lock);
    const uint64_t number = ++stream_number;
    stream_open = true;
    stream_was_full = false;
    event_room = room;
    stream_source = found;
    pthread_mutex_unlock(&lock);
    return found->on_listen(found->context, &(clearway_content){.data = data, .size = size}, (clearway_stream){number});
  }
  return CLEARWAY_NO_HANDLER;
}

bool host_next(void *bytes, size_t capacity, size_t *size) {
  pthread_mutex_lock(&lock);
  while (events == NULL && stream_open) pthread_cond_wait(&changed, &lock);
  event *taken = events;
  bool room = false;
  if (taken != NULL) {
    events = taken->next;
    if (events == NULL) events_end = &events;
    room = --event_count * 2 <= event_room && stream_was_full;
    if (room) stream_was_full = false;
  }
  const clearway_stream stream = {stream_number};
  pthread_mutex_unlock(&lock);
  if (room && stream_source->on_room != NULL) stream_source->on_room(stream_source->context, stream);
  if (taken == NULL) return false;
  *size = taken->size;
  memcpy(bytes, taken->bytes, taken->size < capacity ? taken->size : capacity);
  if (taken->memory.handle != 0) memory_release(taken->memory);
  free(taken);
  return true;
}

void host_cancel(void) {
  pthread_mutex_lock(&lock);
  const bool was_open = stream_open;
  stream_open = false;
  const clearway_stream stream = {stream_number};
  pthread_mutex_unlock(&lock);
  if (was_open && stream_source->on_cancel != NULL) stream_source->on_cancel(stream_source->context, stream);
  uint8_t rest[8];
  size_t size;
  while (host_next(rest, sizeof rest, &size)) continue;
}
