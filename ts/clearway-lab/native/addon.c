// SPDX-License-Identifier: MIT OR Apache-2.0
// A hand-written Node-API addon for a single purpose: no registry, no codec, and V8 owns all memory.
#include <node_api.h>
#include <stdint.h>
#include <string.h>

// Gets the bytes of a Uint8Array and returns 1. For any other value, throws a TypeError in JavaScript and returns 0.
static int bytes_of(napi_env env, napi_value value, uint8_t **data, size_t *size) {
  bool is_view = false;
  napi_typedarray_type type;
  if (napi_is_typedarray(env, value, &is_view) == napi_ok && is_view &&
      napi_get_typedarray_info(env, value, &type, size, (void **)data, NULL, NULL) == napi_ok && type == napi_uint8_array)
    return 1;
  napi_throw_type_error(env, NULL, "expected a Uint8Array");
  return 0;
}

// fill(bytes, value): fills the bytes in place.
static napi_value fill(napi_env env, napi_callback_info info) {
  size_t count = 2;
  napi_value given[2];
  napi_get_cb_info(env, info, &count, given, NULL, NULL);
  uint8_t *data;
  size_t size;
  int32_t value = 0;
  if (!bytes_of(env, given[0], &data, &size)) return NULL;
  napi_get_value_int32(env, given[1], &value);
  if (size > 0) memset(data, value, size);
  return NULL;
}

// echo(bytes): returns a Buffer with a copy of the bytes.
static napi_value echo(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value given;
  napi_get_cb_info(env, info, &count, &given, NULL, NULL);
  uint8_t *data;
  size_t size;
  napi_value copy = NULL;
  if (!bytes_of(env, given, &data, &size)) return NULL;
  napi_create_buffer_copy(env, size, data, NULL, &copy);
  return copy;
}

// take(bytes): does nothing and returns null.
static napi_value take(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value given;
  napi_get_cb_info(env, info, &count, &given, NULL, NULL);
  uint8_t *data;
  size_t size;
  napi_value nothing = NULL;
  if (!bytes_of(env, given, &data, &size)) return NULL;
  napi_get_null(env, &nothing);
  return nothing;
}

// ask(function, bytes): calls the JavaScript function with a copy of the bytes and returns its result.
static napi_value ask(napi_env env, napi_callback_info info) {
  size_t count = 2;
  napi_value given[2], self, answer = NULL;
  napi_get_cb_info(env, info, &count, given, NULL, NULL);
  uint8_t *data;
  size_t size;
  napi_value copy;
  if (!bytes_of(env, given[1], &data, &size)) return NULL;
  napi_create_buffer_copy(env, size, data, NULL, &copy);
  napi_get_undefined(env, &self);
  napi_call_function(env, self, given[0], 1, &copy, &answer);
  return answer;
}

NAPI_MODULE_INIT() {
  const napi_property_descriptor all[] = {
      {"fill", NULL, fill, NULL, NULL, NULL, napi_default, NULL},
      {"echo", NULL, echo, NULL, NULL, NULL, napi_default, NULL},
      {"take", NULL, take, NULL, NULL, NULL, napi_default, NULL},
      {"ask", NULL, ask, NULL, NULL, NULL, napi_default, NULL},
  };
  napi_define_properties(env, exports, sizeof all / sizeof all[0], all);
  return exports;
}
