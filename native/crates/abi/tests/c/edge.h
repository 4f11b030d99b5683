// SPDX-License-Identifier: MIT OR Apache-2.0
// Out-parameters at the end of a page. A write past them ends the process; a write before them is detected.
#ifndef CLEARWAY_TEST_EDGE_H
#define CLEARWAY_TEST_EDGE_H

#include <stdbool.h>
#include <stddef.h>

/** `size` bytes, all of them CANARY, that end where memory ends. Good until the next `edges_check`; 16 at a time. */
void *edge(size_t size);

/** Whether all of them are CANARY yet: nothing was written. */
bool edge_untouched(const void *at, size_t size);

/** Ends the process where anything was written before one of them. Forgets them. */
void edges_check(const char *where);

/** Ends the process where it does not hold, with the place. */
#define EXPECT(holds) expect_that((holds), #holds, __FILE__, __LINE__)
void expect_that(bool holds, const char *what, const char *file, int line);

#endif
