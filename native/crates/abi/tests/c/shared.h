// SPDX-License-Identifier: MIT OR Apache-2.0
// Definitions that the C host and its plugin share.
#ifndef CLEARWAY_TEST_SHARED_H
#define CLEARWAY_TEST_SHARED_H

#include "clearway.h"

/** A function of the host. The plugin runs the function inside one of its handlers. */
typedef struct host_task {
  void (*run)(void *context);
  void *context;
} host_task;

#endif
