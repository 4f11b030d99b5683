// SPDX-License-Identifier: MIT OR Apache-2.0
// Allocates memory for one case. All of it is freed before the next case. The codec itself does not allocate.
#ifndef CLEARWAY_C_POOL_H
#define CLEARWAY_C_POOL_H

#include <stddef.h>
#include <stdint.h>

/** Allocates memory and sets it to zeros. Ends the process if no memory is left. */
void *pool_take(size_t size);

/** Frees all memory that pool_take has returned. */
void pool_empty(void);

#endif
