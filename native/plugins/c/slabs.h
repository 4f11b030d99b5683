// SPDX-License-Identifier: MIT OR Apache-2.0
// Slabs of one size that are lent to the host and come back. A slab keeps its contents, so that the next frame changes only the
// differences; its pages are already touched.
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

/** Makes an empty pool of slabs of a size. Returns null if there is no memory. */
slabs *slabs_make(size_t size);

/** Takes a free slab, or makes one. Returns null if the host keeps all allowed slabs for 5 ms. */
slab *slabs_take(slabs *self);

/** Returns a slab to the pool, on any thread. */
void slabs_give(slab *back);

/** Frees the slabs. Slabs that the host has are freed when they come back, which may be long after the plugin was closed. */
void slabs_drop(slabs *self);

/** A `clearway_release_memory` whose context is the slab. */
void slab_released(void *context, uint8_t *data, size_t size);

#endif
