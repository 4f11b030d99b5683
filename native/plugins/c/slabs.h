// SPDX-License-Identifier: MIT OR Apache-2.0
// A pool of slabs, which are blocks of memory of one size. The plugin lends a slab to the host, and the host returns it. A returned
// slab still contains its last frame, so drawing the next frame changes only the differences. The slab's pages are already mapped.
#ifndef CLEARWAY_EXAMPLE_SLABS_H
#define CLEARWAY_EXAMPLE_SLABS_H

#include "picture.h"

typedef struct slabs slabs;

typedef struct slab {
  slabs *owner;
  struct slab *next;
  uint8_t *pixels;
  /** The last drawing in `pixels`. */
  drawn last_drawn;
} slab;

/** Makes an empty pool of slabs of `size` bytes. Returns null if no memory is left. */
slabs *slabs_make(size_t size);

/**
 * Takes a free slab, or makes one. If the maximum number of slabs is in use, waits up to 5 ms for one. Returns null if no slab came
 * back in that time, or if no memory is left.
 */
slab *slabs_take(slabs *self);

/** Returns a slab to its pool. Any thread may call this. */
void slabs_return(slab *back);

/**
 * Frees the pool when no slab is in use any more. If the host still has slabs, this may be long after the plugin was closed.
 */
void slabs_drop(slabs *self);

/** Returns a slab to its pool. The host calls this as the `clearway_release_memory` of a slab. The context is the slab. */
void slab_released(void *context, uint8_t *data, size_t size);

#endif
