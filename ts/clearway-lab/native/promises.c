// SPDX-License-Identifier: MIT OR Apache-2.0
// Code that a program would write by hand with Node-API, for comparison with Clearway. It also has the same work in C alone.
#include <node_api.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now_us(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec * 1e6 + (double)at.tv_nsec / 1e3;
}

static napi_value argument(napi_env env, napi_callback_info info) {
  napi_value value;
  size_t count = 1;
  napi_get_cb_info(env, info, &count, &value, NULL, NULL);
  return value;
}

static uint8_t *bytes(napi_env env, napi_callback_info info, size_t *size) {
  void *data = NULL;
  napi_get_typedarray_info(env, argument(env, info), NULL, size, &data, NULL, NULL);
  return data;
}

// Takes a Uint8Array and returns undefined.
static napi_value take(napi_env env, napi_callback_info info) {
  size_t size;
  bytes(env, info, &size);
  return NULL;
}

// Fills a Uint8Array in place.
static napi_value fill(napi_env env, napi_callback_info info) {
  size_t size;
  uint8_t *data = bytes(env, info, &size);
  memset(data, data[0] + 1, size);
  return NULL;
}

static napi_value number(napi_env env, double value) {
  napi_value result;
  napi_create_double(env, value, &result);
  return result;
}

// Returns the time of one memset of a Uint8Array's memory in C, in microseconds: the mean of 32. It fills the same memory as the
// compared code, because the position of the pages affects the time as much as the code that fills them.
static napi_value fill_in_c(napi_env env, napi_callback_info info) {
  size_t size;
  uint8_t *data = bytes(env, info, &size);
  const double begun = now_us();
  for (int at = 0; at < 32; at++) {
    memset(data, at, size);
    __asm__ volatile("" : : "r"(data) : "memory"); // the compiler must not remove the memset
  }
  return number(env, (now_us() - begun) / 32);
}

static uint8_t *warm(size_t size, int value) {
  uint8_t *data = aligned_alloc(4096, size);
  memset(data, value, size);
  return data;
}

// Returns the time of two memcpy of the given number of bytes in C, in microseconds. The memory has been touched before.
static napi_value copy_twice_in_c(napi_env env, napi_callback_info info) {
  double size;
  napi_get_value_double(env, argument(env, info), &size);
  static uint8_t *from, *to, *back;
  static size_t had;
  if (had != (size_t)size) {
    free(from), free(to), free(back);
    had = (size_t)size;
    from = warm(had, 1), to = warm(had, 2), back = warm(had, 3);
  }
  const double begun = now_us();
  memcpy(to, from, had);
  __asm__ volatile("" : : "r"(to) : "memory");
  memcpy(back, to, had);
  __asm__ volatile("" : : "r"(back) : "memory");
  return number(env, now_us() - begun);
}

// The same work as plain C functions, for an FFI.
__attribute__((visibility("default"))) void bare_fill(uint8_t *data, uint32_t size) { memset(data, data[0] + 1, size); }
__attribute__((visibility("default"))) void bare_take(uint8_t *data, uint32_t size) { (void)data, (void)size; }

NAPI_MODULE_INIT() {
  const struct {
    const char *name;
    napi_callback call;
  } functions[] = {{"take", take}, {"fill", fill}, {"fillInC", fill_in_c}, {"copyTwiceInC", copy_twice_in_c}};
  for (size_t at = 0; at < sizeof functions / sizeof *functions; at++) {
    napi_value function;
    napi_create_function(env, functions[at].name, NAPI_AUTO_LENGTH, functions[at].call, NULL, &function);
    napi_set_named_property(env, exports, functions[at].name, function);
  }
  return exports;
}
