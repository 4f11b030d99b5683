// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef CLEARWAY_CHECK_MEMORY_H
#define CLEARWAY_CHECK_MEMORY_H

#include "clearway.h"

clearway_status memory_allocate(clearway_plugin_id plugin, size_t size, uint32_t flags, clearway_view *view);
clearway_status memory_adopt(clearway_plugin_id plugin, uint8_t *data, size_t size, uint32_t flags,
                             clearway_release_memory release, void *context, clearway_view *view);
clearway_status memory_view(clearway_memory memory, clearway_view *view);
clearway_status memory_retain(clearway_memory memory, clearway_memory *another);
clearway_status memory_release(clearway_memory memory);
clearway_status memory_seal(clearway_memory memory);

#endif
