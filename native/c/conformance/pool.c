// SPDX-License-Identifier: MIT OR Apache-2.0
#include "pool.h"

#include <stdio.h>
#include <stdlib.h>

typedef union block {
  union block *before;
  max_align_t aligned;
} block;

static block *last;

void *pool_take(size_t size) {
  block *taken = size > SIZE_MAX - sizeof(block) ? NULL : calloc(1, sizeof(block) + size);
  if (taken == NULL) {
    fprintf(stderr, "conformance: no memory for %zu bytes\n", size);
    exit(1);
  }
  taken->before = last;
  last = taken;
  return taken + 1;
}

void pool_empty(void) {
  while (last != NULL) {
    block *before = last->before;
    free(last);
    last = before;
  }
}
