// SPDX-License-Identifier: MIT OR Apache-2.0
// A plugin with two handlers and a source of events. Node and the JVM load the same file. Numbers in messages have the machine's byte order.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "clearway.h"

// The state of one opening of the plugin. A process may open it several times, for instance once per Node worker.
typedef struct my_plugin {
  const clearway_host *host; // not a global variable: a process may have several hosts, each with its own table
  struct listener *listeners; // only callbacks of `ticks` use the list, and they run one after the other: no lock
} my_plugin;

// #region handler
// Answers with the text in capital letters. Runs on the calling thread, which waits: for work of microseconds only.
static clearway_status uppercase(void *context, const clearway_content *message, clearway_reply reply) {
  const my_plugin *self = context;
  char *text = malloc(message->size + 1);
  if (text == NULL) return CLEARWAY_OUT_OF_MEMORY;
  for (size_t at = 0; at < message->size; at++) text[at] = (char)toupper(message->data[at]);
  const clearway_content answer = {.data = (const uint8_t *)text, .size = message->size};
  const clearway_status status = self->host->reply(reply, &answer); // copies the bytes
  free(text);
  return status;
}
// #endregion handler

// Answers with two numbers of 32 bits: the words and the letters of a text. Runs on the plugin's pool of threads.
static clearway_status count(void *context, const clearway_content *message, clearway_reply reply) {
  const my_plugin *self = context;
  if (message->size == 0) {
    const clearway_text why = CLEARWAY_TEXT("text must not be empty");
    return self->host->reply_error(reply, CLEARWAY_INVALID_ARGUMENT, why);
  }
  uint32_t counts[2] = {0, 0};
  for (size_t at = 0; at < message->size; at++) {
    const int starts = at == 0 || isspace(message->data[at - 1]);
    counts[0] += starts && !isspace(message->data[at]);
    counts[1] += isalpha(message->data[at]) != 0;
  }
  const clearway_content answer = {.data = (const uint8_t *)counts, .size = sizeof counts};
  return self->host->reply(reply, &answer);
}

// One listener of `ticks`.
typedef struct listener {
  clearway_stream stream;
  uint32_t next, last;
  struct listener *following;
} listener;

static listener **find(my_plugin *self, clearway_stream stream) {
  listener **place = &self->listeners;
  while (*place != NULL && (*place)->stream.handle != stream.handle) place = &(*place)->following;
  return place;
}

// Called when a listener has cancelled, and after the last event.
static void forget(void *self, clearway_stream stream) {
  listener **place = find(self, stream), *gone = *place;
  if (gone == NULL) return;
  *place = gone->following;
  free(gone);
}

// #region events
// Emits events while the stream has room, and ends the stream after the last event. The host calls it again when there is room.
static void emit(void *context, clearway_stream stream) {
  my_plugin *self = context;
  listener *to = *find(self, stream);
  if (to == NULL) return;
  while (to->next <= to->last) {
    const clearway_content event = {.data = (const uint8_t *)&to->next, .size = sizeof to->next};
    const clearway_status status = self->host->emit(stream, &event);
    if (status == CLEARWAY_FULL) return;
    if (status != CLEARWAY_OK) break;
    to->next++;
  }
  self->host->end(stream);
  forget(self, stream);
}
// #endregion events

// Starts a listener. The arguments are the number of events, in 32 bits.
static clearway_status listen(void *context, const clearway_content *arguments, clearway_stream stream) {
  my_plugin *self = context;
  uint32_t events;
  if (arguments->size != sizeof events) return CLEARWAY_INVALID_ARGUMENT;
  memcpy(&events, arguments->data, sizeof events);
  if (events == UINT32_MAX) return CLEARWAY_INVALID_ARGUMENT;
  listener *added = malloc(sizeof *added);
  if (added == NULL) return CLEARWAY_OUT_OF_MEMORY;
  *added = (listener){.stream = stream, .next = 1, .last = events, .following = self->listeners};
  self->listeners = added;
  emit(self, stream);
  return CLEARWAY_OK;
}

static void closed(void *context) {
  my_plugin *self = context;
  while (self->listeners != NULL) forget(self, self->listeners->stream);
  free(self);
}

static clearway_status add_channels(my_plugin *self, clearway_plugin_id id) {
  const clearway_handler handlers[] = {
      {.channel = CLEARWAY_TEXT("uppercase"), .runs = CLEARWAY_RUN_DIRECT, .on_message = uppercase},
      {.channel = CLEARWAY_TEXT("count"), .runs = CLEARWAY_RUN_POOL, .on_message = count},
  };
  for (size_t at = 0; at < sizeof handlers / sizeof *handlers; at++) {
    clearway_handler handler = handlers[at];
    handler.size = sizeof handler;
    handler.context = self;
    const clearway_status status = self->host->handle(id, &handler);
    if (status != CLEARWAY_OK) return status;
  }
  const clearway_source ticks = {.size = sizeof ticks,
                                 .channel = CLEARWAY_TEXT("ticks"),
                                 .runs = CLEARWAY_RUN_SERIAL,
                                 .queue = CLEARWAY_TEXT("ticks"),
                                 .context = self,
                                 .on_listen = listen,
                                 .on_cancel = forget,
                                 .on_room = emit};
  return self->host->source(id, &ticks);
}

clearway_status clearway_plugin_init(const clearway_host *host, clearway_plugin *plugin) {
  plugin->abi_major = CLEARWAY_ABI_MAJOR;
  plugin->abi_minor = CLEARWAY_ABI_MINOR;
  if (host->abi_major != CLEARWAY_ABI_MAJOR) return CLEARWAY_VERSION;
  my_plugin *self = calloc(1, sizeof *self);
  if (self == NULL) return CLEARWAY_OUT_OF_MEMORY;
  self->host = host;
  const clearway_status status = add_channels(self, plugin->id);
  if (status != CLEARWAY_OK) {
    free(self);
    return status;
  }
  plugin->context = self;
  plugin->on_close = closed;
  return CLEARWAY_OK;
}
