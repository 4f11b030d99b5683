// SPDX-License-Identifier: MIT OR Apache-2.0
// Counted references to memory, with generations. The lower half of a handle is the index of a slot. The upper half is the slot's
// generation: how often the slot was used.

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

typedef struct block {
  uint8_t *data;
  size_t size;
  uint32_t flags;
  unsigned references;
  clearway_release_memory release;
  void *context;
} block;

enum { SLOTS = 256 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  uint32_t generation;
  block *block;
} slots[SLOTS];

// Returns the block of a handle, or null if the handle is stale. The caller must hold `lock`.
static block *find(clearway_memory memory) {
  const uint32_t slot = (uint32_t)memory.handle;
  if (slot >= SLOTS || slots[slot].block == NULL || slots[slot].generation != memory.handle >> 32) return NULL;
  return slots[slot].block;
}

// Makes a reference to a block. Returns 0 if all slots are in use. The caller must hold `lock`.
static clearway_memory add_reference(block *to) {
  for (uint32_t slot = 0; slot < SLOTS; slot++) {
    if (slots[slot].block != NULL) continue;
    slots[slot].block = to;
    to->references++;
    return (clearway_memory){(uint64_t)++slots[slot].generation << 32 | slot};
  }
  return (clearway_memory){0};
}

static void write_view(clearway_memory memory, const block *at, clearway_view *view) {
  *view = (clearway_view){.memory = memory, .data = at->data, .size = at->size, .flags = at->flags};
}

static void free_data(void *context, uint8_t *data, size_t size) {
  (void)context, (void)size;
  free(data);
}

clearway_status memory_adopt(clearway_plugin_id plugin, uint8_t *data, size_t size, uint32_t flags,
                             clearway_release_memory release, void *context, clearway_view *view) {
  (void)plugin;
  if (data == NULL || view == NULL) return CLEARWAY_INVALID_ARGUMENT;
  block *new_block = malloc(sizeof *new_block);
  if (new_block == NULL) return CLEARWAY_OUT_OF_MEMORY;
  *new_block = (block){.data = data, .size = size, .flags = flags, .release = release, .context = context};
  pthread_mutex_lock(&lock);
  const clearway_memory memory = add_reference(new_block);
  pthread_mutex_unlock(&lock);
  if (memory.handle == 0) {
    free(new_block);
    return CLEARWAY_FULL;
  }
  write_view(memory, new_block, view);
  return CLEARWAY_OK;
}

clearway_status memory_allocate(clearway_plugin_id plugin, size_t size, uint32_t flags, clearway_view *view) {
  if (view == NULL) return CLEARWAY_INVALID_ARGUMENT;
  if (size > (size_t)1 << 32) return CLEARWAY_TOO_LARGE;
  uint8_t *data = malloc(size > 0 ? size : 1);
  if (data == NULL) return CLEARWAY_OUT_OF_MEMORY;
  // Unless zeros are requested, fills the memory with a pattern, to detect plugins that rely on zeros.
  memset(data, flags & CLEARWAY_MEMORY_ZEROED ? 0 : 0xa5, size);
  const clearway_status status = memory_adopt(plugin, data, size, 0, free_data, NULL, view);
  if (status != CLEARWAY_OK) free(data);
  return status;
}

clearway_status memory_view(clearway_memory memory, clearway_view *view) {
  pthread_mutex_lock(&lock);
  const block *found = find(memory);
  if (found != NULL && view != NULL) write_view(memory, found, view);
  pthread_mutex_unlock(&lock);
  return found == NULL ? CLEARWAY_STALE : view == NULL ? CLEARWAY_INVALID_ARGUMENT : CLEARWAY_OK;
}

clearway_status memory_retain(clearway_memory memory, clearway_memory *another) {
  pthread_mutex_lock(&lock);
  block *found = find(memory);
  const clearway_memory reference = found == NULL || another == NULL ? (clearway_memory){0} : add_reference(found);
  if (reference.handle != 0) *another = reference;
  pthread_mutex_unlock(&lock);
  return reference.handle == 0 ? CLEARWAY_STALE : CLEARWAY_OK;
}

clearway_status memory_release(clearway_memory memory) {
  pthread_mutex_lock(&lock);
  block *found = find(memory);
  if (found != NULL) slots[(uint32_t)memory.handle].block = NULL;
  const bool last = found != NULL && --found->references == 0;
  pthread_mutex_unlock(&lock);
  if (found == NULL) return CLEARWAY_STALE;
  if (last) {
    if (found->release != NULL) found->release(found->context, found->data, found->size);
    free(found);
  }
  return CLEARWAY_OK;
}

clearway_status memory_seal(clearway_memory memory) {
  pthread_mutex_lock(&lock);
  block *found = find(memory);
  if (found != NULL) found->flags |= CLEARWAY_MEMORY_SEALED;
  pthread_mutex_unlock(&lock);
  return found == NULL ? CLEARWAY_STALE : CLEARWAY_OK;
}

unsigned host_references(void) {
  unsigned count = 0;
  pthread_mutex_lock(&lock);
  for (uint32_t slot = 0; slot < SLOTS; slot++) count += slots[slot].block != NULL;
  pthread_mutex_unlock(&lock);
  return count;
}

clearway_memory host_memory(size_t size, uint8_t **data) {
  clearway_view view = {0};
  memory_allocate((clearway_plugin_id){0}, size, CLEARWAY_MEMORY_ZEROED, &view);
  *data = view.data;
  return view.memory;
}

void host_release(clearway_memory memory) { memory_release(memory); }
