// SPDX-License-Identifier: MIT OR Apache-2.0
// A host in C that uses only clearway_host.h (`host PLUGIN`). Its exit status is 0 if every check passes.
#include <stdio.h>

#include "edge.h"
#include "host.h"

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
