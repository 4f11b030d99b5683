// SPDX-License-Identifier: MIT OR Apache-2.0
// The plugin that the C host opens twice. The plugin runs functions of the host inside its handlers.
#include <stdlib.h>
#include <string.h>

#include "shared.h"

static const clearway_host *host;

// Runs a function of the host on the handler's thread, and answers with null.
static clearway_status run(void *context, const clearway_content *message, clearway_reply reply) {
  (void)context;
  host_task asked;
  if (message->size != sizeof asked) return CLEARWAY_INVALID_ARGUMENT;
  memcpy(&asked, message->data, sizeof asked);
  asked.run(asked.context);
  return host->reply(reply, NULL);
}

static clearway_status echo(void *context, const clearway_content *message, clearway_reply reply) {
  (void)context;
  return host->reply(reply, message);
}

static clearway_status never(void *context, const clearway_content *message, clearway_reply reply) {
  (void)context, (void)message, (void)reply;
  return CLEARWAY_OK;
}

// Answers with a byte and two attachments.
static clearway_status attach(void *context, const clearway_content *message, clearway_reply reply) {
  (void)message;
  clearway_view views[2];
  for (int at = 0; at < 2; at++)
    if (host->allocate((clearway_plugin_id){(uintptr_t)context}, 16, CLEARWAY_MEMORY_ZEROED, &views[at]) != CLEARWAY_OK) abort();
  const clearway_memory both[] = {views[0].memory, views[1].memory};
  const uint8_t byte = 3;
  const clearway_status status =
      host->reply(reply, &(clearway_content){.data = &byte, .size = 1, .attachments = both, .attachments_count = 2});
  for (int at = 0; at < 2; at++) host->release(both[at]);
  return status;
}

// The message's first byte is the number of lines to log. The second byte is the number of messages to send to the host.
static clearway_status say(void *context, const clearway_content *message, clearway_reply reply) {
  const clearway_plugin_id id = (clearway_plugin_id){(uintptr_t)context};
  if (message->size != 2) return CLEARWAY_INVALID_ARGUMENT;
  for (int line = 0; line < message->data[0]; line++) host->log(id, CLEARWAY_LOG_INFO, (clearway_text)CLEARWAY_TEXT("line"));
  for (int at = 0; at < message->data[1]; at++)
    if (host->send(id, (clearway_text)CLEARWAY_TEXT("ask"), NULL, NULL, NULL) != CLEARWAY_OK) abort();
  return host->reply(reply, NULL);
}

// The first byte of the arguments is the number of events to emit before the end. Without arguments, the listener has to cancel.
static clearway_status listen(void *context, const clearway_content *arguments, clearway_stream stream) {
  (void)context;
  if (arguments->size == 0) return CLEARWAY_OK;
  for (uint8_t at = 0; at < arguments->data[0]; at++)
    if (host->emit(stream, &(clearway_content){.data = &at, .size = 1}) != CLEARWAY_OK) abort();
  return host->end(stream);
}

clearway_status clearway_plugin_init(const clearway_host *given, clearway_plugin *plugin) {
  host = given;
  plugin->abi_major = CLEARWAY_ABI_MAJOR;
  plugin->abi_minor = CLEARWAY_ABI_MINOR;
  void *context = (void *)(uintptr_t)plugin->id.handle;
  const struct {
    clearway_text channel;
    uint32_t runs;
    clearway_on_message on_message;
  } rows[] = {
      {CLEARWAY_TEXT("echo"), CLEARWAY_RUN_DIRECT, echo},      {CLEARWAY_TEXT("echo/pool"), CLEARWAY_RUN_POOL, echo},
      {CLEARWAY_TEXT("never"), CLEARWAY_RUN_DIRECT, never},    {CLEARWAY_TEXT("attach"), CLEARWAY_RUN_DIRECT, attach},
      {CLEARWAY_TEXT("say"), CLEARWAY_RUN_DIRECT, say},        {CLEARWAY_TEXT("run"), CLEARWAY_RUN_DIRECT, run},
      {CLEARWAY_TEXT("run/pool"), CLEARWAY_RUN_POOL, run},     {CLEARWAY_TEXT("run/serial"), CLEARWAY_RUN_SERIAL, run},
  };
  for (size_t at = 0; at < sizeof rows / sizeof *rows; at++) {
    const clearway_handler handler = {.size = sizeof handler,
                                      .channel = rows[at].channel,
                                      .runs = rows[at].runs,
                                      .queue = CLEARWAY_TEXT("queue\0with a zero"),
                                      .context = context,
                                      .on_message = rows[at].on_message};
    const clearway_status status = host->handle(plugin->id, &handler);
    if (status != CLEARWAY_OK) return status;
  }
  const clearway_source source = {
      .size = sizeof source, .channel = CLEARWAY_TEXT("numbers"), .runs = CLEARWAY_RUN_DIRECT, .on_listen = listen};
  return host->source(plugin->id, &source);
}
