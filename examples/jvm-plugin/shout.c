// SPDX-License-Identifier: MIT OR Apache-2.0
#include <ctype.h>
#include <stdlib.h>

#include "clearway.h"

static const clearway_host *host;

// Answers with the message in capital letters.
static clearway_status shout(void *context, const clearway_content *message, clearway_reply reply) {
  (void)context;
  uint8_t *loud = malloc(message->size + 1);
  if (loud == NULL) return CLEARWAY_OUT_OF_MEMORY;
  for (size_t at = 0; at < message->size; at++) loud[at] = (uint8_t)toupper(message->data[at]);
  const clearway_content answer = {.data = loud, .size = message->size};
  const clearway_status status = host->reply(reply, &answer); // copies the bytes
  free(loud);
  return status;
}

clearway_status clearway_plugin_init(const clearway_host *table, clearway_plugin *plugin) {
  if (table->abi_major != CLEARWAY_ABI_MAJOR) return CLEARWAY_VERSION;
  host = table;
  plugin->abi_major = CLEARWAY_ABI_MAJOR;
  plugin->abi_minor = CLEARWAY_ABI_MINOR;
  const clearway_handler handler = {
      .size = sizeof handler, .channel = CLEARWAY_TEXT("shout"), .runs = CLEARWAY_RUN_POOL, .on_message = shout};
  return host->handle(plugin->id, &handler);
}
