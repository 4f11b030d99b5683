// SPDX-License-Identifier: MIT OR Apache-2.0
#include <ctype.h>
#include <stdlib.h>

#include "clearway.h"

// Answers with the message in capital letters. The context is the table of the host that has opened the plugin.
static clearway_status shout(void *context, const clearway_content *message, clearway_reply reply) {
  const clearway_host *host = context;
  uint8_t *loud = malloc(message->size + 1);
  if (loud == NULL) return CLEARWAY_OUT_OF_MEMORY;
  for (size_t at = 0; at < message->size; at++) loud[at] = (uint8_t)toupper(message->data[at]);
  const clearway_content answer = {.data = loud, .size = message->size};
  const clearway_status status = host->reply(reply, &answer); // copies the bytes
  free(loud);
  return status;
}

clearway_status clearway_plugin_init(const clearway_host *host, clearway_plugin *plugin) {
  if (host->abi_major != CLEARWAY_ABI_MAJOR) return CLEARWAY_VERSION;
  plugin->abi_major = CLEARWAY_ABI_MAJOR;
  plugin->abi_minor = CLEARWAY_ABI_MINOR;
  const clearway_handler handler = {.size = sizeof handler,
                                    .channel = CLEARWAY_TEXT("shout"),
                                    .runs = CLEARWAY_RUN_POOL,
                                    .context = (void *)host,
                                    .on_message = shout};
  return host->handle(plugin->id, &handler);
}
