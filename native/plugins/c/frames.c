// SPDX-License-Identifier: MIT OR Apache-2.0
// A simulated screen. "frames" emits RGBA pictures at a given rate, and "frames/pointer" moves the screen's pointer. The bytes of a frame
// are never copied. The host receives the slab that contains the picture, and returns it later.

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "example.h"

// Draws a moving picture. A bar moves over a gradient, and a cross marks the pointer. Pixels are RGBA. The first bytes contain a
// stamp instead of pixels:
//
//    0       4       8          12   16   20        24           32            40
//    +-------+-------+----------+----+----+---------+------------+-------------+----
//    | magic | frame | sequence | x  | y  | buttons | ns to draw | ns at start | 0 …   little-endian, up to byte 64
//    +-------+-------+----------+----+----+---------+------------+-------------+----

enum { STAMP_SIZE = 64 };

/** The first bytes of a stamp. In memory they are the text "CLF1". */
static const uint32_t stamp_magic = 0x31464c43;

typedef struct picture {
  uint32_t width;
  uint32_t height;
  /** The pixels of the gradient. `picture_draw` copies them to restore the places where the bar and the cross were. */
  uint8_t *background;
} picture;

/** The last drawing in one slab. */
typedef struct drawn {
  /** Whether the slab contains a picture. If not, the other fields have no meaning. */
  bool whole;
  uint32_t bar;
  pointer pointer;
} drawn;

// The cross is 24 pixels wide, and its lines are 4 pixels thick. The width of the bar is a sixteenth of the picture's width. The bar
// moves across the picture in 240 frames, which are 4 seconds at 60 frames per second.
enum { CROSS = 24, CROSS_THICK = 4, BAR_PART = 16, BAR_STEPS = 240 };

static size_t picture_size(const picture *self) { return (size_t)self->width * self->height * 4; }

/** Makes the background. Returns false if no memory is left. */
static bool picture_make(picture *self, uint32_t width, uint32_t height) {
  *self = (picture){.width = width, .height = height};
  self->background = malloc(picture_size(self));
  if (self->background == NULL) return false;
  uint8_t *pixel = self->background;
  for (uint32_t y = 0; y < height; y++)
    for (uint32_t x = 0; x < width; x++, pixel += 4) {
      pixel[0] = (uint8_t)(x * 255 / width);
      pixel[1] = (uint8_t)(y * 255 / height);
      pixel[2] = 96;
      pixel[3] = 255;
    }
  return true;
}

static void picture_free(picture *self) { free(self->background); }

/** A rectangle, in pixels. It may extend beyond the picture; `clip` clips it. */
typedef struct area {
  int64_t left;
  int64_t top;
  int64_t right;
  int64_t bottom;
} area;

static int64_t within(int64_t value, int64_t max) { return value < 0 ? 0 : value > max ? max : value; }

static area clip(const picture *self, area unclipped) {
  return (area){within(unclipped.left, self->width), within(unclipped.top, self->height), within(unclipped.right, self->width),
                within(unclipped.bottom, self->height)};
}

static void restore(const picture *self, uint8_t *pixels, area unclipped) {
  const area part = clip(self, unclipped);
  for (int64_t y = part.top; y < part.bottom; y++) {
    const size_t from = ((size_t)y * self->width + (size_t)part.left) * 4;
    memcpy(pixels + from, self->background + from, (size_t)(part.right - part.left) * 4);
  }
}

static void fill(const picture *self, uint8_t *pixels, area unclipped, const uint8_t colour[4]) {
  const area part = clip(self, unclipped);
  for (int64_t y = part.top; y < part.bottom; y++)
    for (int64_t x = part.left; x < part.right; x++)
      memcpy(pixels + ((size_t)y * self->width + (size_t)x) * 4, colour, 4);
}

static area bar_at(const picture *self, uint32_t left) {
  const uint32_t width = self->width < BAR_PART ? 1 : self->width / BAR_PART;
  return (area){left, 0, (int64_t)left + width, self->height};
}

static area square(const pointer *at, int64_t reach_x, int64_t reach_y) {
  return (area){at->x - reach_x, at->y - reach_y, at->x + reach_x, at->y + reach_y};
}

/**
 * Draws a frame into `pixels`. The first frame of a slab copies the whole background. Each later frame changes only the bar, the cross
 * and the stamp. `last_drawn` describes the slab's last drawing, and the function updates it.
 */
static void picture_draw(const picture *self, uint8_t *pixels, drawn *last_drawn, uint32_t frame, const pointer *at) {
  const uint64_t start = now_ns();
  if (last_drawn->whole) {
    restore(self, pixels, bar_at(self, last_drawn->bar));
    restore(self, pixels, square(&last_drawn->pointer, CROSS / 2, CROSS / 2));
  } else {
    memcpy(pixels, self->background, picture_size(self));
  }
  *last_drawn = (drawn){
      .whole = true, .bar = (uint32_t)((uint64_t)(frame % BAR_STEPS) * self->width / BAR_STEPS), .pointer = *at};
  fill(self, pixels, bar_at(self, last_drawn->bar), (const uint8_t[]){240, 240, 240, 255});
  // Draws no cross before the first pointer command.
  if (at->sequence != 0) {
    const uint8_t colour[] = {255, at->buttons == 0 ? 210 : 0, 0, 255};
    fill(self, pixels, square(at, CROSS / 2, CROSS_THICK / 2), colour);
    fill(self, pixels, square(at, CROSS_THICK / 2, CROSS / 2), colour);
  }

  uint8_t stamp[STAMP_SIZE] = {0};
  memcpy(stamp, &stamp_magic, 4);
  memcpy(stamp + 4, &frame, 4);
  memcpy(stamp + 8, &at->sequence, 4);
  memcpy(stamp + 12, &at->x, 4);
  memcpy(stamp + 16, &at->y, 4);
  memcpy(stamp + 20, &at->buttons, 4);
  const uint64_t took = now_ns() - start;
  memcpy(stamp + 24, &took, 8);
  memcpy(stamp + 32, &start, 8);
  const size_t size = picture_size(self);
  memcpy(pixels, stamp, size < STAMP_SIZE ? size : STAMP_SIZE);
}

// A pool of slabs, which are blocks of memory of one size. The plugin lends a slab to the host, and the host returns it. A returned
// slab still contains its last frame, so drawing the next frame changes only the differences. The slab's pages are already mapped.

typedef struct slabs slabs;

typedef struct slab {
  slabs *owner;
  struct slab *next;
  uint8_t *pixels;
  /** The last drawing in `pixels`. */
  drawn last_drawn;
} slab;

// The limits of a pool. 16 slabs for frames of 1080p take 133 MB. A listener that holds 16 frames does not keep up with the source. For
// larger frames, `BYTES_MAX` allows fewer slabs, but at least two: one is drawn while the other is shown.
enum { SLABS_MAX = 16, SLABS_MIN = 2, BYTES_MAX = 256 << 20 };

// The maximum time to wait for a slab, in nanoseconds: about a third of a frame's time at 60 frames per second. A ticker that waits
// for a slab notices a cancelled listener only after this time.
enum { WAIT_NS = 5000000 };

struct slabs {
  pthread_mutex_t lock;
  pthread_cond_t slab_returned;
  slab *free;
  size_t size;
  /** The number of slabs that were allocated, including those in use. */
  unsigned slab_count;
  /** The maximum number of slabs. */
  unsigned max;
  /** The number of slabs that are not in the pool: the ticker, the stream or the host uses them. */
  unsigned in_use;
  bool dropped;
};

/** Makes an empty pool of slabs of `size` bytes. Returns null if no memory is left. */
static slabs *slabs_make(size_t size) {
  slabs *self = calloc(1, sizeof *self);
  if (self == NULL) return NULL;
  pthread_mutex_init(&self->lock, NULL);
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&self->slab_returned, &monotonic);
  pthread_condattr_destroy(&monotonic);
  const size_t fit = BYTES_MAX / size;
  self->size = size;
  self->max = fit < SLABS_MIN ? SLABS_MIN : fit > SLABS_MAX ? SLABS_MAX : (unsigned)fit;
  return self;
}

/**
 * Takes a free slab, or makes one. If the maximum number of slabs is in use, waits up to 5 ms for one. Returns null if no slab came
 * back in that time, or if no memory is left.
 */
static slab *slabs_take(slabs *self) {
  pthread_mutex_lock(&self->lock);
  if (self->free == NULL && self->slab_count == self->max) {
    const uint64_t until_ns = now_ns() + WAIT_NS;
    const struct timespec until = {.tv_sec = (time_t)(until_ns / 1000000000u), .tv_nsec = (long)(until_ns % 1000000000u)};
    pthread_cond_timedwait(&self->slab_returned, &self->lock, &until);
  }
  slab *taken = self->free;
  if (taken != NULL) {
    self->free = taken->next;
  } else if (self->slab_count < self->max) {
    taken = calloc(1, sizeof *taken);
    if (taken != NULL) taken->pixels = malloc(self->size);
    if (taken != NULL && taken->pixels == NULL) {
      free(taken);
      taken = NULL;
    }
    if (taken != NULL) {
      taken->owner = self;
      self->slab_count++;
    }
  }
  if (taken != NULL) self->in_use++;
  pthread_mutex_unlock(&self->lock);
  return taken;
}

static void free_all(slabs *self) {
  while (self->free != NULL) {
    slab *each = self->free;
    self->free = each->next;
    free(each->pixels);
    free(each);
  }
  pthread_cond_destroy(&self->slab_returned);
  pthread_mutex_destroy(&self->lock);
  free(self);
}

/** Returns a slab to its pool. Any thread may call this. */
static void slabs_return(slab *back) {
  slabs *self = back->owner;
  pthread_mutex_lock(&self->lock);
  back->next = self->free;
  self->free = back;
  const bool last = --self->in_use == 0 && self->dropped;
  pthread_cond_signal(&self->slab_returned);
  pthread_mutex_unlock(&self->lock);
  if (last) free_all(self);
}

/**
 * Frees the pool when no slab is in use any more. If the host still has slabs, this may be long after the plugin was closed.
 */
static void slabs_drop(slabs *self) {
  pthread_mutex_lock(&self->lock);
  self->dropped = true;
  const bool last = self->in_use == 0;
  pthread_mutex_unlock(&self->lock);
  if (last) free_all(self);
}

/** Returns a slab to its pool. The host calls this as the `clearway_release_memory` of a slab. The context is the slab. */
static void slab_released(void *context, uint8_t *data, size_t size) {
  (void)data;
  (void)size;
  slabs_return(context);
}

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
