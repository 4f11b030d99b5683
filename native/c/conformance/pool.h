// SPDX-License-Identifier: MIT OR Apache-2.0
// Memory of one case, freed with the next. Only this program allocates; the codec does not.
#ifndef CLEARWAY_C_POOL_H
#define CLEARWAY_C_POOL_H

#include <stddef.h>
#include <stdint.h>

/** New memory, zeros. Ends the process where there is none. */
void *pool_take(size_t size);

/** Frees what was taken. */
void pool_empty(void);

#endif
