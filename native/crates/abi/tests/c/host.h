// SPDX-License-Identifier: MIT OR Apache-2.0
// The groups of checks in the C host.
#ifndef CLEARWAY_TEST_HOST_H
#define CLEARWAY_TEST_HOST_H

#include <string.h>

#include "clearway_host.h"

static inline clearway_text text(const char *literal) {
  return (clearway_text){literal, strlen(literal)};
}

/** Checks that C passes handles as it passes numbers. */
void check_handles(void);

/** Checks every out-parameter, with an opened plugin. */
void check_outs(clearway_plugin_id id);

/** Calls every function from every place. Closes and frees both plugins. */
void check_contexts(clearway_plugin_id one, clearway_plugin_id other);

#endif
