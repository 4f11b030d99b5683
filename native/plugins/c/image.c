// SPDX-License-Identifier: MIT OR Apache-2.0
// The handler "image/filter", which runs on the pool. It changes the RGBA pixels of the first attachment in place, in memory that both
// sides see. The message is a standard map {"width": …, "height": …, "filter": "negative" | "grey"}.
#include <string.h>

#include "ticker.h"

static void negative(uint8_t *pixel) {
  for (int channel = 0; channel < 3; channel++) pixel[channel] = (uint8_t)(255 - pixel[channel]);
}

// Computes luma by Rec. 709 with weights of 16 bits. The three weights add up to 65536.
static void grey(uint8_t *pixel) {
  const uint32_t luma = (pixel[0] * 13933u + pixel[1] * 46871u + pixel[2] * 4732u) >> 16;
  memset(pixel, (int)luma, 3);
}

static clearway_status filter(void *context, const clearway_content *message, clearway_reply reply) {
  const example *self = context;
  clearway_value memory[16];
  clearway_values values = {.at = memory, .capacity = 16};
  const clearway_value *given;
  int64_t width, height;
  // Width and height are required: their default, 0, is out of range.
  if (!read_arguments(message, &values, &given) || !argument(given, "width", 1, 1 << 15, 0, &width) ||
      !argument(given, "height", 1, 1 << 15, 0, &height))
    return refuse(self, reply, CLEARWAY_INVALID_ARGUMENT, "width and height are 1 to 32768");
  const clearway_value *name = clearway_find(given, "filter");
  void (*const change)(uint8_t *) = clearway_text_is(name, "negative") ? negative : clearway_text_is(name, "grey") ? grey : NULL;
  if (change == NULL) return refuse(self, reply, CLEARWAY_INVALID_ARGUMENT, "filter is \"negative\" or \"grey\"");
  clearway_view view;
  const clearway_memory pixels = message->attachments_count > 0 ? message->attachments[0] : (clearway_memory){0};
  const clearway_status status = self->host->view(pixels, &view);
  if (status != CLEARWAY_OK) return refuse(self, reply, status, "no pixels come with the message");
  if (view.flags & CLEARWAY_MEMORY_SEALED) return refuse(self, reply, CLEARWAY_INVALID_ARGUMENT, "the pixels are sealed");
  const uint64_t size = (uint64_t)width * (uint64_t)height * 4;
  if (view.size < size) return refuse(self, reply, CLEARWAY_INVALID_ARGUMENT, "there are too few pixels");
  for (uint8_t *pixel = view.data; pixel < view.data + size; pixel += 4) change(pixel);
  return reply_null(self, reply);
}

clearway_status add_image(example *self) {
  static const entry entries[] = {{CLEARWAY_TEXT("image/filter"), CLEARWAY_RUN_POOL, {0}, filter}};
  return add_handlers(self, entries, 1);
}
