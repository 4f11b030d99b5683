// SPDX-License-Identifier: MIT OR Apache-2.0
// A simulated screen. "frames" emits RGBA pictures at a given rate, and "frames/pointer" moves the screen's pointer. The bytes of a frame
// are never copied. The host receives the slab that contains the picture, and returns it later.
#include <stdlib.h>
#include <string.h>

#include "slabs.h"
#include "ticker.h"

typedef struct screen {
  example *owner;
  picture picture;
  slabs *slabs;
  /** The memory of a drawn frame that the stream has not accepted yet. The handle is 0 if there is none. */
  clearway_view pending_frame;
  /** The number of frames that were drawn. */
  uint32_t drawn;
} screen;

// Emits the pending frame. Keeps it if the stream is full, and otherwise releases it.
static clearway_status emit_pending(screen *self, clearway_stream stream) {
  const clearway_host *host = self->owner->host;
  const clearway_content content = {
      .data = self->pending_frame.data, .size = self->pending_frame.size, .memory = self->pending_frame.memory};
  const clearway_status status = host->emit(stream, &content);
  // The ticker calls `emit` again when the stream has room.
  if (status == CLEARWAY_FULL) return status;
  host->release(self->pending_frame.memory);
  self->pending_frame.memory = (clearway_memory){0};
  return status;
}

static clearway_status emit(void *state, clearway_stream stream, uint64_t number, bool is_retry) {
  (void)number;
  screen *self = state;
  if (is_retry) return emit_pending(self, stream);
  slab *next = slabs_take(self->slabs);
  // The host still has all slabs. Skips this frame; the next tick tries again.
  if (next == NULL) return CLEARWAY_OK;
  pthread_mutex_lock(&self->owner->lock);
  const pointer at = self->owner->pointer;
  pthread_mutex_unlock(&self->owner->lock);
  picture_draw(&self->picture, next->pixels, &next->last_drawn, self->drawn++, &at);
  const clearway_status status = self->owner->host->adopt(self->owner->id, next->pixels, picture_size(&self->picture), 0,
                                                          slab_released, next, &self->pending_frame);
  if (status != CLEARWAY_OK) {
    slabs_return(next);
    return status;
  }
  return emit_pending(self, stream);
}

static void drop(void *state) {
  screen *self = state;
  if (self->pending_frame.memory.handle != 0) self->owner->host->release(self->pending_frame.memory);
  if (self->slabs != NULL) slabs_drop(self->slabs);
  picture_free(&self->picture);
  free(self);
}

// Arguments: {"width": 1 to 8192, "height": 1 to 8192, "rate": frames per second}. At rate 0, emits a frame whenever the stream has room.
static clearway_status on_listen(void *context, const clearway_content *arguments, clearway_stream stream) {
  example *self = context;
  clearway_value memory[16];
  clearway_values values = {.at = memory, .capacity = 16};
  const clearway_value *given;
  int64_t width, height, rate;
  if (!read_arguments(arguments, &values, &given) || !argument(given, "width", 1, 8192, 1920, &width) ||
      !argument(given, "height", 1, 8192, 1080, &height) || !argument(given, "rate", 0, 1000, 60, &rate))
    return CLEARWAY_INVALID_ARGUMENT;
  screen *new_screen = calloc(1, sizeof *new_screen);
  if (new_screen == NULL) return CLEARWAY_OUT_OF_MEMORY;
  new_screen->owner = self;
  if (picture_make(&new_screen->picture, (uint32_t)width, (uint32_t)height))
    new_screen->slabs = slabs_make(picture_size(&new_screen->picture));
  if (new_screen->slabs == NULL) {
    drop(new_screen);
    return CLEARWAY_OUT_OF_MEMORY;
  }
  const tick_source source = {.emit = emit, .drop = drop, .state = new_screen, .rate = (uint32_t)rate};
  return start_ticker(self, stream, &source);
}

// Moves the pointer. The message is u32 sequence, i32 x, i32 y, u32 buttons. Every screen of this plugin instance draws the pointer with
// its next frame.
static clearway_status move_pointer(void *context, const clearway_content *message, clearway_reply reply) {
  example *self = context;
  if (message->size != sizeof(pointer))
    return refuse(self, reply, CLEARWAY_INVALID_ARGUMENT, "the message is u32 sequence, i32 x, i32 y, u32 buttons");
  pthread_mutex_lock(&self->lock);
  memcpy(&self->pointer, message->data, sizeof self->pointer);
  pthread_mutex_unlock(&self->lock);
  return reply_null(self, reply);
}

clearway_status add_frames(example *self) {
  static const entry entries[] = {{CLEARWAY_TEXT("frames/pointer"), CLEARWAY_RUN_DIRECT, {0}, move_pointer}};
  const clearway_source source = {.size = sizeof source,
                                  .channel = CLEARWAY_TEXT("frames"),
                                  .runs = CLEARWAY_RUN_POOL,
                                  .context = self,
                                  .on_listen = on_listen,
                                  .on_cancel = ticker_cancelled,
                                  .on_room = ticker_has_room};
  const clearway_status status = self->host->source(self->id, &source);
  return status == CLEARWAY_OK ? add_handlers(self, entries, 1) : status;
}
