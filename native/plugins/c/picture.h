// SPDX-License-Identifier: MIT OR Apache-2.0
// A moving picture: a bar sweeps over a gradient, and a cross marks the pointer. Pixels are RGBA. The first bytes contain a stamp:
//
//    0       4       8          12   16   20        24           32            40
//    +-------+-------+----------+----+----+---------+------------+-------------+----
//    | magic | frame | sequence | x  | y  | buttons | ns to draw | ns at start | 0 …   little-endian, up to byte 64
//    +-------+-------+----------+----+----+---------+------------+-------------+----
#ifndef CLEARWAY_EXAMPLE_PICTURE_H
#define CLEARWAY_EXAMPLE_PICTURE_H

#include "example.h"

enum { STAMP_SIZE = 64 };

/** "CLF1", as bytes in memory. */
static const uint32_t stamp_magic = 0x31464c43;

typedef struct picture {
  uint32_t width;
  uint32_t height;
  /** The whole gradient. `picture_draw` restores moved parts from it. */
  uint8_t *background;
} picture;

/** The drawing over the background of one slab. `whole` is false before the first drawing. */
typedef struct drawn {
  bool whole;
  uint32_t bar;
  pointer pointer;
} drawn;

/** Makes the background. Returns false if there is no memory. */
bool picture_make(picture *self, uint32_t width, uint32_t height);
void picture_free(picture *self);
size_t picture_size(const picture *self);

/** Draws a frame. After the first frame of a slab, changes only the bar, the cross and the stamp. Updates `before` for the next frame. */
void picture_draw(const picture *self, uint8_t *pixels, drawn *before, uint32_t frame, const pointer *at);

#endif
