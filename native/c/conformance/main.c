// SPDX-License-Identifier: MIT OR Apache-2.0
// The program behind `conformance/run c`. Reads one JSON case from each line of stdin, and writes one JSON answer to each line of
// stdout.
#include <stdio.h>
#include <stdlib.h>

#include "conformance.h"

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

// Reads a line without its line break. Returns false at the end of the input.
static bool next_line(notation_text *line) {
  line->size = 0;
  for (int byte; (byte = getchar()) != EOF;) {
    if (byte == '\n') return true;
    const char one = (char)byte;
    notation_put(line, &one, 1);
  }
  return line->size > 0;
}

static bool is_blank(const notation_text *line) {
  for (size_t at = 0; at < line->size; at++)
    if (line->chars[at] != ' ' && line->chars[at] != '\t' && line->chars[at] != '\r') return false;
  return true;
}

int main(void) {
  notation_text line = {0};
  notation_text out = {0};
  while (next_line(&line)) {
    if (is_blank(&line)) continue;
    out.size = 0;
    answer_line(&out, (const uint8_t *)line.chars, line.size);
    notation_put(&out, "\n", 1);
    // Flushes, because a client may wait for this answer before it sends the next case.
    if (fwrite(out.chars, 1, out.size, stdout) != out.size || fflush(stdout) != 0) return 1;
    pool_empty();
  }
  free(line.chars);
  free(out.chars);
  return 0;
}
