// SPDX-License-Identifier: MIT OR Apache-2.0
// The plugin's init function, and functions that all files of the plugin use.
#include "example.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>


clearway_status add_handlers(example *self, const entry *entries, size_t count) {
  for (size_t at = 0; at < count; at++) {
    const clearway_handler handler = {.size = sizeof handler,
                                      .channel = entries[at].channel,
                                      .runs = entries[at].runs,
                                      .queue = entries[at].queue,
                                      .context = self,
                                      .on_message = entries[at].on_message};
    const clearway_status status = self->host->handle(self->id, &handler);
    if (status != CLEARWAY_OK) return status;
  }
  return CLEARWAY_OK;
}

clearway_status reply_bytes(const example *self, clearway_reply reply, const void *bytes, size_t size) {
  return self->host->reply(reply, &(clearway_content){.data = bytes, .size = size});
}

clearway_status reply_null(const example *self, clearway_reply reply) { return self->host->reply(reply, NULL); }

clearway_status refuse(const example *self, clearway_reply reply, clearway_status status, const char *text) {
  return self->host->reply_error(reply, status, (clearway_text){text, strlen(text)});
}

uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void on_close(void *context) {
  example *self = context;
  stop_tickers(self);
  if (self->held.memory.handle != 0) self->host->release(self->held.memory);
  pthread_mutex_destroy(&self->lock);
  free(self);
}

CLEARWAY_EXPORT clearway_status clearway_plugin_init(const clearway_host *host, clearway_plugin *plugin) {
  plugin->abi_major = CLEARWAY_ABI_MAJOR;
  plugin->abi_minor = CLEARWAY_ABI_MINOR;
  if (host->abi_major != CLEARWAY_ABI_MAJOR) return CLEARWAY_VERSION;
  example *self = calloc(1, sizeof *self);
  if (self == NULL) return CLEARWAY_OUT_OF_MEMORY;
  self->host = host;
  self->id = plugin->id;
  pthread_mutex_init(&self->lock, NULL);
  plugin->context = self;
  plugin->on_close = on_close;

  clearway_status (*const parts[])(example *) = {add_memset, add_echo, add_sensor, add_frames, add_image, add_block};
  for (size_t at = 0; at < sizeof parts / sizeof *parts; at++) {
    const clearway_status status = parts[at](self);
    if (status == CLEARWAY_OK) continue;
    // If init fails, the host does not call `on_close`.
    on_close(self);
    return status;
  }
  return CLEARWAY_OK;
}
