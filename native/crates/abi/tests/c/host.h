// SPDX-License-Identifier: MIT OR Apache-2.0
// The parts of the C host.
#ifndef CLEARWAY_TEST_HOST_H
#define CLEARWAY_TEST_HOST_H

#include <string.h>

#include "clearway.h"

static inline clearway_text text(const char *literal) {
  return (clearway_text){literal, strlen(literal)};
}

/** Checks that handles are passed as numbers are. */
void check_handles(void);

/** Every out-parameter, with an opened plugin. */
void check_outs(clearway_plugin_id id);

/** Every function from every place; closes and frees both plugins. */
void check_contexts(clearway_plugin_id one, clearway_plugin_id other);

#endif
