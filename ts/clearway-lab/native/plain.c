// SPDX-License-Identifier: MIT OR Apache-2.0
// Plain C functions for the native peers. They do not depend on a host. The lab compiles this file when a scenario needs it.
#define _GNU_SOURCE
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

void lab_fill(uint8_t *data, size_t size, int value) { memset(data, value, size); }

// Returns memory that only native code has. It is page-aligned and untouched, so that the first fill includes the page faults.
uint8_t *lab_hold(size_t size) {
  void *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return data == MAP_FAILED ? NULL : data;
}

void lab_release(uint8_t *data, size_t size) { munmap(data, size); }

// Returns 1 if every byte is `value`.
int lab_holds(const uint8_t *data, size_t size, int value) {
  for (size_t at = 0; at < size; at++)
    if (data[at] != (uint8_t)value) return 0;
  return 1;
}

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

// Fills memory `batch` times with the clock in C, too. Returns the mean time of a fill in nanoseconds.
double lab_timed_fill(uint8_t *data, size_t size, int value, size_t batch) {
  const double begin = now_ns();
  for (size_t fill = 0; fill < batch; fill++) {
    memset(data, value, size);
    // Nothing reads the memory, so the compiler could remove the writes.
    __asm__ volatile("" : : "r"(data) : "memory");
  }
  return (now_ns() - begin) / (double)batch;
}

// The reference, completely in C, including the clock. `ns` has room for `times` figures, each the mean of `batch` fills. Fresh
// memory is mapped for every figure within the measured time, and unmapped outside it. Returns 0 if the memory is not available or
// was not filled.
int lab_reference(size_t size, int fresh, size_t batch, double *ns, size_t times) {
  uint8_t *data = lab_hold(size);
  if (data == NULL) return 0;
  int good = 1;
  memset(data, 1, size);
  for (size_t i = 0; i < times && good; i++) {
    const int value = (int)(i & 255);
    if (fresh) lab_release(data, size);
    const double begin = now_ns();
    if (fresh && (data = lab_hold(size)) == NULL) return 0;
    for (size_t fill = 0; fill < batch; fill++) {
      memset(data, value, size);
      // Nothing reads the memory, so the compiler could remove the writes.
      __asm__ volatile("" : : "r"(data) : "memory");
    }
    ns[i] = (now_ns() - begin) / (double)batch;
    good = data[0] == value && data[size - 1] == value;
  }
  lab_release(data, size);
  return good;
}

// The size from which glibc maps blocks at its start.
#define MAPPED_FROM (128 * 1024)

#ifdef __GLIBC__
// The number of blocks that malloc has mapped.
static size_t mapped_blocks(void) {
#if __GLIBC_PREREQ(2, 33)
  return mallinfo2().hblks;
#else
  return (size_t)mallinfo().hblks;
#endif
}
#endif

// Ends glibc's adaptation of that size. malloc then still takes a block from free memory of the heap, if there is any. Fills that memory with
// blocks, until malloc maps one. Returns the last block; each begins with the address of the one before it.
static void **fill_heap(size_t size) {
  void **last = NULL;
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, MAPPED_FROM);
  const size_t mapped = mapped_blocks();
  while (size >= MAPPED_FROM && mapped_blocks() == mapped) {
    void **block = malloc(size);
    if (block == NULL) break;
    *block = last;
    last = block;
  }
#else
  (void)size;
#endif
  return last;
}

// The same with memory from malloc, which is allocated within the measured time and freed outside it. With `fixed`, glibc maps every
// block of 128 KB and more, as at its start. Otherwise it adapts that limit to the freed blocks. Returns 0 without memory.
int lab_malloc(size_t size, int fixed, double *ns, size_t times) {
  void **held = fixed ? fill_heap(size) : NULL;
  int good = 1;
  for (size_t i = 0; i < times && good; i++) {
    const int value = (int)(i & 255);
    const double begin = now_ns();
    uint8_t *data = malloc(size);
    if (data == NULL) return 0;
    memset(data, value, size);
    __asm__ volatile("" : : "r"(data) : "memory");
    ns[i] = now_ns() - begin;
    good = data[0] == value && data[size - 1] == value;
    free(data);
  }
  while (held != NULL) {
    void **before = *held;
    free(held);
    held = before;
  }
  return good;
}
