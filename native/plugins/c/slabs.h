// SPDX-License-Identifier: MIT OR Apache-2.0
// Slabs of one size that are lent to the host and come back. What one holds stays in it, so that the next frame changes
// only what is different; and its pages have been touched.
#ifndef CLEARWAY_EXAMPLE_SLABS_H
#define CLEARWAY_EXAMPLE_SLABS_H

#include "picture.h"

typedef struct slabs slabs;

typedef struct slab {
  slabs *owner;
  struct slab *next;
  uint8_t *pixels;
  drawn holds;
} slab;

/** Slabs of a size, none of them made yet. Null where there is no memory. */
slabs *slabs_make(size_t size);

/** A slab that nobody has, made if need be; null where all that there may be stay with the host for 5 ms. */
slab *slabs_take(slabs *self);

/** Gives one back; on any thread. */
void slabs_give(slab *back);

/** Frees them: those that the host has when it gives them back, which may be long after the plugin was closed. */
void slabs_drop(slabs *self);

/** A `clearway_release_memory` whose context is the slab. */
void slab_released(void *context, uint8_t *data, size_t size);

#endif
