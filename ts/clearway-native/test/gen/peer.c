// SPDX-License-Identifier: MIT OR Apache-2.0
// A plugin for the schema thermometer.json, with a minimal host. Each line of stdin is a call in hex. Each line of stdout is the answer to
// a call: the reply in hex, or the status.
#include <stdio.h>

#include "thermometer.h"

static clearway_status allocate(clearway_plugin_id plugin, size_t size, uint32_t flags, clearway_view *view) {
  (void)plugin;
  (void)flags;
  *view = (clearway_view){.memory = {1}, .data = malloc(size), .size = size};
  return view->data == NULL ? CLEARWAY_OUT_OF_MEMORY : CLEARWAY_OK;
}

static uint8_t *taken;

static clearway_status release(clearway_memory memory) {
  (void)memory;
  free(taken);
  taken = NULL;
  return CLEARWAY_OK;
}

static clearway_status print(const clearway_content *content) {
  for (size_t at = 0; at < content->size; at++) printf("%02x", content->data[at]);
  taken = (uint8_t *)content->data;
  return CLEARWAY_OK;
}

static clearway_status print_reply(clearway_reply reply, const clearway_content *content) {
  (void)reply;
  return print(content);
}

static clearway_status print_event(clearway_stream stream, const clearway_content *content) {
  (void)stream;
  return print(content);
}

static const clearway_host host = {
    .size = sizeof host, .allocate = allocate, .release = release, .reply = print_reply, .emit = print_event};
static const clearway_plugin_id id = {1};

static clearway_status level(void *context, const thermometer_level_args *args, clearway_reply reply) {
  (void)context;
  const thermometer_reading reading = {
      .level = args->samples.is_some ? args->samples.some : 20, .unit = args->unit, .note = {.is_some = false}, .at = INT64_MAX};
  return thermometer_reply_level(&host, id, reply, &reading);
}

static clearway_status history(void *context, const thermometer_history_args *args, clearway_reply reply) {
  (void)context;
  thermometer_reading_or_null items[2] = {{.is_some = false}, {.is_some = true, .some = {.unit = THERMOMETER_UNIT_F}}};
  const thermometer_history_args_places_item_value_map *place = &args->places.items[args->places.count - 1];
  items[1].some.note.is_some = true;
  items[1].some.note.some = place->items[0].value.city;
  items[1].some.at = args->from;
  const thermometer_reading_or_null_list list = {.items = items, .count = 2};
  return thermometer_reply_history(&host, id, reply, &list);
}

static clearway_status image(void *context, const clearway_bytes *args, clearway_reply reply) {
  (void)context;
  if (args->count == 0) return thermometer_reply_error(&host, id, reply, "EMPTY", "no pixels");
  return thermometer_reply_image(&host, id, reply, args);
}

static clearway_status everything(void *context, const thermometer_everything_args *args, clearway_reply reply) {
  (void)context;
  thermometer_everything_result result;
  // The two structs have the same fields in the same order.
  memcpy(&result, args, sizeof result);
  return thermometer_reply_everything(&host, id, reply, &result);
}

static clearway_status reset(void *context, clearway_reply reply) {
  (void)context;
  return thermometer_reply_reset(&host, id, reply);
}

int main(void) {
  static char line[1 << 20];
  static uint8_t bytes[1 << 19];
  const thermometer_methods methods = {
      .level = level, .history = history, .image = image, .everything = everything, .reset = reset};
  while (fgets(line, sizeof line, stdin) != NULL) {
    size_t size = 0;
    unsigned byte = 0;
    while (sscanf(line + 2 * size, "%2x", &byte) == 1) bytes[size++] = (uint8_t)byte;
    const clearway_content message = {.data = bytes, .size = size};
    const clearway_status status = thermometer_dispatch(&methods, NULL, &host, id, &message, (clearway_reply){1});
    if (status == CLEARWAY_NOT_IMPLEMENTED) printf("status: not implemented");
    else if (status == CLEARWAY_INVALID_ARGUMENT) printf("status: invalid argument");
    else if (status != CLEARWAY_OK) return 1;
    printf("\n");
    fflush(stdout);
  }
  // After the calls, decodes the arguments of a listener and emits an event.
  const clearway_content listen = {.data = (const uint8_t *)"\7\6listen\3\7\0\0\0", .size = 13};
  clearway_gen_arena arena = {0};
  thermometer_i32_or_null every = {0};
  if (thermometer_read_args_of_changed(&listen, &arena, &every) != CLEARWAY_OK) return 1;
  const thermometer_reading reading = {.level = every.some, .unit = THERMOMETER_UNIT_KELVIN};
  if (thermometer_emit_changed(&host, id, (clearway_stream){1}, &reading) != CLEARWAY_OK) return 1;
  clearway_gen_free(&arena);
  printf("\n");
  return 0;
}
