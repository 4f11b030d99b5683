// SPDX-License-Identifier: MIT OR Apache-2.0
#include "picture.h"

#include <stdlib.h>
#include <string.h>

// The cross is 24 pixels wide, and its lines are 4 pixels thick. The width of the bar is a sixteenth of the picture's width. The bar
// moves across the picture in 240 frames, which are 4 seconds at 60 frames per second.
enum { CROSS = 24, CROSS_THICK = 4, BAR_PART = 16, BAR_STEPS = 240 };

size_t picture_size(const picture *self) { return (size_t)self->width * self->height * 4; }

bool picture_make(picture *self, uint32_t width, uint32_t height) {
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

void picture_free(picture *self) { free(self->background); }

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

void picture_draw(const picture *self, uint8_t *pixels, drawn *last_drawn, uint32_t frame, const pointer *at) {
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
