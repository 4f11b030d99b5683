// SPDX-License-Identifier: MIT OR Apache-2.0
#include "slabs.h"

#include <stdlib.h>
#include <time.h>

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

slabs *slabs_make(size_t size) {
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

slab *slabs_take(slabs *self) {
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

void slabs_return(slab *back) {
  slabs *self = back->owner;
  pthread_mutex_lock(&self->lock);
  back->next = self->free;
  self->free = back;
  const bool last = --self->in_use == 0 && self->dropped;
  pthread_cond_signal(&self->slab_returned);
  pthread_mutex_unlock(&self->lock);
  if (last) free_all(self);
}

void slabs_drop(slabs *self) {
  pthread_mutex_lock(&self->lock);
  self->dropped = true;
  const bool last = self->in_use == 0;
  pthread_mutex_unlock(&self->lock);
  if (last) free_all(self);
}

void slab_released(void *context, uint8_t *data, size_t size) {
  (void)data;
  (void)size;
  slabs_return(context);
}
