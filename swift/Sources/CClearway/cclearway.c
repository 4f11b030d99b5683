// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cclearway.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

// Finds one function. Returns -1 if the library has none of that name.
static int find(void *library, const char *name, void *function) {
  // A function's address fits in a data pointer on every POSIX system, but C cannot cast between them.
  void *const found = dlsym(library, name);
  memcpy(function, &found, sizeof found);
  return found == NULL ? -1 : 0;
}

int cclearway_load(const char *path, cclearway *functions, char *error, size_t error_size) {
  void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    const char *const why = dlerror();
    snprintf(error, error_size, "%s", why != NULL ? why : path);
    return -1;
  }
#define CCLEARWAY_FIND(name)                                                                                           \
  if (find(library, "clearway_" #name, &functions->name) != 0) {                                                       \
    snprintf(error, error_size, "%s has no function clearway_" #name, path);                                           \
    return -1;                                                                                                         \
  }
  CCLEARWAY_FUNCTIONS(CCLEARWAY_FIND)
#undef CCLEARWAY_FIND
  return 0;
}
