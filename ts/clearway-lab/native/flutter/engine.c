// SPDX-License-Identifier: MIT OR Apache-2.0
// Looks up the functions of engine.h.
#include "engine.h"

#include <dlfcn.h>
#include <stdio.h>

#define DEFINED(result, name, parameters) result(*name) parameters;
SYSTEM_FUNCTIONS(DEFINED)
ENGINE_FUNCTIONS(DEFINED)

typedef struct lookup {
  const char *name;
  void **place;
} lookup;

#define LISTED(result, name, parameters) {#name, (void **)&name},
static const lookup system_functions[] = {SYSTEM_FUNCTIONS(LISTED)};
static const lookup engine_functions[] = {ENGINE_FUNCTIONS(LISTED)};

static char problem[1024];

static const char *find_all(void *library, const lookup *all, size_t count) {
  for (size_t at = 0; at < count; at++) {
    *all[at].place = dlsym(library, all[at].name);
    if (*all[at].place != NULL) continue;
    snprintf(problem, sizeof problem, "%s", dlerror());
    return problem;
  }
  return NULL;
}

static void *opened(const char *path, int flags) {
  void *library = dlopen(path, flags);
  if (library == NULL) snprintf(problem, sizeof problem, "%s", dlerror());
  return library;
}

const char *engine_load(const char *folder) {
  char path[4096];
  if ((size_t)snprintf(path, sizeof path, "%s/lib/libflutter_linux_gtk.so", folder) >= sizeof path) return "the path is too long";
  // The libraries of GTK are global, because the engine expects their functions, and because one lookup then finds GLib's, too.
  void *gtk = opened("libgtk-3.so.0", RTLD_NOW | RTLD_GLOBAL);
  if (gtk == NULL) return problem;
  void *engine = opened(path, RTLD_NOW);
  if (engine == NULL) return problem;
  const char *missing = find_all(gtk, system_functions, sizeof system_functions / sizeof *system_functions);
  if (missing != NULL) return missing;
  return find_all(engine, engine_functions, sizeof engine_functions / sizeof *engine_functions);
}
