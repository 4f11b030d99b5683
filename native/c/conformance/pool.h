// SPDX-License-Identifier: MIT OR Apache-2.0
// The memory of one case, freed before the next. Only this program allocates; the codec does not.
#ifndef CLEARWAY_C_POOL_H
#define CLEARWAY_C_POOL_H

#include <stddef.h>
#include <stdint.h>

/** Returns new memory, set to zeros. Ends the process if there is none. */
void *pool_take(size_t size);

/** Frees all memory that pool_take returned. */
void pool_empty(void);

#endif
