// SPDX-License-Identifier: MIT OR Apache-2.0
// A host in C that uses only clearway_host.h (`host PLUGIN`). Its exit status is 0 if every check passes.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host.h"

enum { CANARY = 0xA5, EDGES = 16, ROOM = 1 << 16 };

// Each thread has its own page edges, because callbacks on several threads use them at the same time.
static _Thread_local uint8_t *rooms[EDGES];
static _Thread_local size_t sizes[EDGES];
static _Thread_local int used;

void expect_that(bool holds, const char *what, const char *file, int line) {
  if (holds) return;
  fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
  _Exit(1);
}

void *edge(size_t size) {
  EXPECT(used < EDGES && size <= ROOM);
  if (rooms[used] == NULL) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    rooms[used] = mmap(NULL, ROOM + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(rooms[used] != MAP_FAILED && mprotect(rooms[used] + ROOM, page, PROT_NONE) == 0);
  }
  memset(rooms[used], CANARY, ROOM);
  sizes[used] = size;
  return rooms[used++] + ROOM - size;
}

bool edge_untouched(const void *at, size_t size) {
  const uint8_t *bytes = at;
  for (size_t byte = 0; byte < size; byte++)
    if (bytes[byte] != CANARY) return false;
  return true;
}

void edges_check(const char *where) {
  for (int at = 0; at < used; at++) {
    if (edge_untouched(rooms[at], ROOM - sizes[at])) continue;
    fprintf(stderr, "%s: written before out-parameter %d of %zu bytes\n", where, at, sizes[at]);
    _Exit(1);
  }
  used = 0;
}

// C must pass handles as Rust expects them. A handle is a struct of one number in C, and that number in Rust.
#define AS_THE_NUMBER(type) \
  _Static_assert(sizeof(type) == sizeof(uint64_t) && _Alignof(type) == _Alignof(uint64_t), #type " is a number")
AS_THE_NUMBER(clearway_memory);
AS_THE_NUMBER(clearway_reply);
AS_THE_NUMBER(clearway_stream);
AS_THE_NUMBER(clearway_plugin_id);
AS_THE_NUMBER(clearway_channel);
AS_THE_NUMBER(clearway_waiter);

// The arguments have both sizes. They are too many for the registers, so some of them go on the stack.
static uint64_t sum(uint64_t a, uint32_t b, uint64_t c, uint64_t d, uint32_t e, uint64_t f, uint64_t g, uint64_t h, uint64_t i,
                    uint64_t j) {
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j;
}

typedef uint64_t by_number(uint64_t, uint32_t, uint64_t, uint64_t, uint32_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
typedef uint64_t by_handle(clearway_memory, uint32_t, clearway_reply, clearway_stream, uint32_t, clearway_memory, clearway_memory,
                           clearway_memory, clearway_channel, clearway_waiter);
typedef clearway_status view_by_number(uint64_t, clearway_view *);

/** Checks that C passes handles as it passes numbers. */
static void check_handles(void) {
  // `volatile` hides the called function from the compiler.
  by_number *volatile numbers = sum;
  by_handle *volatile handles = (by_handle *)(void (*)(void))numbers;
  const clearway_memory six = {6}, seven = {7}, eight = {8};
  const uint64_t expected = numbers(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
  EXPECT(expected == handles((clearway_memory){1}, 2, (clearway_reply){3}, (clearway_stream){4}, 5, six, seven, eight,
                             (clearway_channel){9}, (clearway_waiter){10}));
  view_by_number *volatile view_number = (view_by_number *)(void (*)(void))clearway_memory_view;
  clearway_view made, seen;
  EXPECT(clearway_memory_allocate(9, 0, &made) == CLEARWAY_OK);
  EXPECT(view_number(made.memory.handle, &seen) == CLEARWAY_OK && seen.data == made.data && seen.size == 9);
  EXPECT(clearway_memory_release(made.memory) == CLEARWAY_OK);
}

int main(int count, char **given) {
  clearway_plugin_id one, other;
  char error[200];
  if (count != 2) return fprintf(stderr, "usage: %s PLUGIN\n", given[0]), 2;
  const clearway_status status = clearway_plugin_open(text(given[1]), NULL, &one, error, sizeof error);
  if (status != CLEARWAY_OK) return fprintf(stderr, "%s: status %d: %s\n", given[1], status, error), 1;
  clearway_plugin_id *at_edge = edge(sizeof *at_edge);
  const clearway_options options = {.size = sizeof options, .threads = 2, .calls_max = 64, .streams_max = 4};
  EXPECT(clearway_plugin_open(text(given[1]), &options, at_edge, NULL, 0) == CLEARWAY_OK);
  other = *at_edge;
  edges_check("open");
  EXPECT(clearway_version() >> 16 == CLEARWAY_ABI_MAJOR);
  check_handles();
  check_outs(one);
  check_outs(other);
  check_contexts(one, other);
  return 0;
}
