// SPDX-License-Identifier: MIT OR Apache-2.0
// Slabs of one size that are lent to the host and returned. A slab keeps its contents, so the next frame changes only the differences.
// The slab's pages are already touched.
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

/** Makes an empty pool of slabs of one size. Returns null if there is no memory. */
slabs *slabs_make(size_t size);

/**
 * Takes a free slab, or makes one. If the host has all allowed slabs, waits up to 5 ms for one, then returns null. Returns null also
 * without memory.
 */
slab *slabs_take(slabs *self);

/** Returns a slab to the pool, on any thread. */
void slabs_give(slab *back);

/** Frees the pool. Slabs that the host still has are freed when the host releases them, possibly long after the plugin was closed. */
void slabs_drop(slabs *self);

/** Returns a slab to its pool. This is a `clearway_release_memory` whose context is the slab. */
void slab_released(void *context, uint8_t *data, size_t size);

#endif
