// SPDX-License-Identifier: MIT OR Apache-2.0
// A plugin for tests that breaks the rules. The host must refuse the wrong calls and continue to work. Most handlers make wrong calls,
// and answer with the statuses that the host returned. A status is an i32, little-endian.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "clearway.h"

typedef struct bad {
  const clearway_host *host;
  clearway_plugin_id id;
} bad;

// Answers with a list of statuses.
static clearway_status answer_statuses(const bad *self, clearway_reply reply, const clearway_status *statuses, size_t count) {
  return self->host->reply(reply, &(clearway_content){.data = (const uint8_t *)statuses, .size = count * sizeof *statuses});
}

// Returns a status that the ABI does not define.
static clearway_status garbage_status(void *context, const clearway_content *message, clearway_reply reply) {
  (void)context, (void)message, (void)reply;
  return -559038737;
}

// Does not answer.
static clearway_status never(void *context, const clearway_content *message, clearway_reply reply) {
  (void)context, (void)message, (void)reply;
  return CLEARWAY_OK;
}

// Answers with impossible lengths: a length without bytes, one beyond the end of a memory, and one past the end of the address space.
static clearway_status garbage_length(void *context, const clearway_content *message, clearway_reply reply) {
  (void)message;
  const bad *self = context;
  clearway_view view;
  clearway_status statuses[5];
  uint8_t byte = 0;
  statuses[0] = self->host->allocate(self->id, 64, 0, &view);
  statuses[1] = self->host->reply(reply, &(clearway_content){.data = NULL, .size = 64});
  statuses[2] = self->host->reply(reply, &(clearway_content){.data = &byte, .size = SIZE_MAX});
  statuses[3] = self->host->reply(reply, &(clearway_content){.data = view.data, .size = 65, .memory = view.memory});
  statuses[4] = self->host->reply(reply, &(clearway_content){.data = view.data + 60, .size = SIZE_MAX - 8, .memory = view.memory});
  self->host->release(view.memory);
  return answer_statuses(self, reply, statuses, 5);
}

// Uses a handle that never existed, and a handle after its release.
static clearway_status garbage_memory(void *context, const clearway_content *message, clearway_reply reply) {
  (void)message;
  const bad *self = context;
  clearway_view view;
  clearway_view ignored_view;
  clearway_memory another;
  clearway_status statuses[8];
  statuses[0] = self->host->view((clearway_memory){0x1234567812345678u}, &ignored_view);
  statuses[1] = self->host->allocate(self->id, SIZE_MAX, 0, &view);
  statuses[2] = self->host->allocate(self->id, 64, 0, &view);
  statuses[3] = self->host->release(view.memory);
  statuses[4] = self->host->release(view.memory);
  statuses[5] = self->host->view(view.memory, &ignored_view);
  statuses[6] = self->host->retain(view.memory, &another);
  statuses[7] = self->host->reply(reply, &(clearway_content){.memory = view.memory});
  return answer_statuses(self, reply, statuses, 8);
}

// Passes null for required pointers.
static clearway_status null_pointers(void *context, const clearway_content *message, clearway_reply reply) {
  (void)message;
  const bad *self = context;
  clearway_status statuses[6];
  const clearway_handler without_function = {.size = sizeof without_function, .channel = CLEARWAY_TEXT("null")};
  statuses[0] = self->host->allocate(self->id, 64, 0, NULL);
  statuses[1] = self->host->view((clearway_memory){1}, NULL);
  statuses[2] = self->host->handle(self->id, NULL);
  statuses[3] = self->host->handle(self->id, &without_function);
  statuses[4] = self->host->source(self->id, NULL);
  statuses[5] = self->host->log(self->id, 99, (clearway_text){NULL, 64});
  return answer_statuses(self, reply, statuses, 6);
}

// Answers twice. The host accepts the first answer and refuses the second one.
static clearway_status twice(void *context, const clearway_content *message, clearway_reply reply) {
  const bad *self = context;
  self->host->reply(reply, message);
  const clearway_status again = self->host->reply(reply, NULL);
  return again == CLEARWAY_OK ? CLEARWAY_OK : CLEARWAY_FAILED;
}

typedef struct later {
  const clearway_host *host;
  clearway_reply reply;
} later;

static void *answer_later(void *context) {
  later *self = context;
  self->host->reply(self->reply, NULL);
  self->host->reply(self->reply, NULL);
  self->host->reply_error(self->reply, CLEARWAY_FAILED, (clearway_text){NULL, 0});
  free(self);
  return NULL;
}

// Starts a detached thread that answers three times, while the handler returns a status.
static clearway_status from_a_thread(void *context, const clearway_content *message, clearway_reply reply) {
  (void)message;
  const bad *self = context;
  later *state = malloc(sizeof *state);
  if (state == NULL) return CLEARWAY_OUT_OF_MEMORY;
  *state = (later){.host = self->host, .reply = reply};
  pthread_t thread;
  if (pthread_create(&thread, NULL, answer_later, state) != 0) {
    free(state);
    return CLEARWAY_OUT_OF_MEMORY;
  }
  pthread_detach(thread);
  return CLEARWAY_OK;
}

// Emits to an unknown stream, emits with an impossible length, and emits to the stream after its end.
static clearway_status on_listen(void *context, const clearway_content *arguments, clearway_stream stream) {
  (void)arguments;
  const bad *self = context;
  self->host->emit((clearway_stream){stream.handle ^ 0x5555}, NULL);
  self->host->emit(stream, &(clearway_content){.data = NULL, .size = 8});
  self->host->emit(stream, &(clearway_content){.data = (const uint8_t *)"last", .size = 4});
  self->host->end(stream);
  self->host->emit(stream, &(clearway_content){.data = (const uint8_t *)"late", .size = 4});
  self->host->end(stream);
  return CLEARWAY_OK;
}

static void on_close(void *context) { free(context); }

CLEARWAY_EXPORT clearway_status clearway_plugin_init(const clearway_host *host, clearway_plugin *plugin) {
  static const struct {
    clearway_text channel;
    clearway_on_message on_message;
  } handlers[] = {
      {CLEARWAY_TEXT("garbage/status"), garbage_status}, {CLEARWAY_TEXT("garbage/length"), garbage_length},
      {CLEARWAY_TEXT("garbage/memory"), garbage_memory}, {CLEARWAY_TEXT("garbage/null"), null_pointers},
      {CLEARWAY_TEXT("reply/never"), never},             {CLEARWAY_TEXT("reply/twice"), twice},
      {CLEARWAY_TEXT("reply/thread"), from_a_thread},
  };
  plugin->abi_major = CLEARWAY_ABI_MAJOR;
  plugin->abi_minor = CLEARWAY_ABI_MINOR;
  bad *self = malloc(sizeof *self);
  if (self == NULL) return CLEARWAY_OUT_OF_MEMORY;
  *self = (bad){.host = host, .id = plugin->id};
  plugin->context = self;
  plugin->on_close = on_close;
  for (size_t at = 0; at < sizeof handlers / sizeof *handlers; at++) {
    const clearway_handler handler = {
        .size = sizeof handler, .channel = handlers[at].channel, .context = self, .on_message = handlers[at].on_message};
    host->handle(plugin->id, &handler);
    // The host refuses the second handler of a channel and changes nothing.
    host->handle(plugin->id, &handler);
  }
  const clearway_source source = {
      .size = sizeof source, .channel = CLEARWAY_TEXT("events/after-end"), .context = self, .on_listen = on_listen};
  host->source(plugin->id, &source);
  return CLEARWAY_OK;
}
