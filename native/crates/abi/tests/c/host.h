// SPDX-License-Identifier: MIT OR Apache-2.0
// The groups of checks in the C host. It places out-parameters at the end of a page: a write past an out-parameter ends the process, and
// `edges_check` detects a write before it.
#ifndef CLEARWAY_TEST_HOST_H
#define CLEARWAY_TEST_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "clearway_host.h"

static inline clearway_text text(const char *literal) {
  return (clearway_text){literal, strlen(literal)};
}

/** Checks every out-parameter, with an opened plugin. */
void check_outs(clearway_plugin_id id);

/** Calls every function from every place. Closes and frees both plugins. */
void check_contexts(clearway_plugin_id one, clearway_plugin_id other);

/** Returns `size` bytes of CANARY, with a page without access behind. Valid until the next `edges_check`. At most 16 exist at a time. */
void *edge(size_t size);

/** Returns whether all bytes are still CANARY, so that nothing was written. */
bool edge_untouched(const void *at, size_t size);

/** Checks that nothing was written before the present edges, and frees the edges. Ends the process on failure. */
void edges_check(const char *where);

/** Checks a condition. If the condition is false, prints the file and the line, and ends the process. */
#define EXPECT(holds) expect_that((holds), #holds, __FILE__, __LINE__)
void expect_that(bool holds, const char *what, const char *file, int line);

#endif
