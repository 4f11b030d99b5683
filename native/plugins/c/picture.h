// SPDX-License-Identifier: MIT OR Apache-2.0
// Draws a moving picture. A bar moves over a gradient, and a cross marks the pointer. Pixels are RGBA. The first bytes contain a
// stamp instead of pixels:
//
//    0       4       8          12   16   20        24           32            40
//    +-------+-------+----------+----+----+---------+------------+-------------+----
//    | magic | frame | sequence | x  | y  | buttons | ns to draw | ns at start | 0 …   little-endian, up to byte 64
//    +-------+-------+----------+----+----+---------+------------+-------------+----
#ifndef CLEARWAY_EXAMPLE_PICTURE_H
#define CLEARWAY_EXAMPLE_PICTURE_H

#include "example.h"

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

/** Makes the background. Returns false if no memory is left. */
bool picture_make(picture *self, uint32_t width, uint32_t height);
void picture_free(picture *self);
size_t picture_size(const picture *self);

/**
 * Draws a frame into `pixels`. The first frame of a slab copies the whole background. Each later frame changes only the bar, the cross
 * and the stamp. `last_drawn` describes the slab's last drawing, and the function updates it.
 */
void picture_draw(const picture *self, uint8_t *pixels, drawn *last_drawn, uint32_t frame, const pointer *at);

#endif
