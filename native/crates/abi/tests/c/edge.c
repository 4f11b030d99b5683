// SPDX-License-Identifier: MIT OR Apache-2.0
#include "edge.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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
