// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads the envelopes of the JSON method codec. A call is {"method": …, "args": …}. A success is [value]. An error is
// [code, message, details] or [code, message, details, stack].
#include "read_json.h"

static const clearway_value null_value = {.kind = CLEARWAY_KIND_NULL, .nodes = 1};

// Returns the maximum depth for a message with its envelope. The envelope is one level that the limit does not count.
static uint32_t depth_with_envelope(const clearway_codec_limits *limits) {
  const uint32_t depth_max = (limits == NULL ? &clearway_codec_default_limits : limits)->depth_max;
  return depth_max == UINT32_MAX ? depth_max : depth_max + 1;
}

static bool is_text_or_null(const clearway_value *value) {
  return value->kind == CLEARWAY_KIND_TEXT || value->kind == CLEARWAY_KIND_NULL;
}

clearway_codec_result clearway_read_json_call(const uint8_t *bytes, size_t size, const clearway_codec_limits *limits,
                                              clearway_values *values, clearway_method_call *call) {
  const clearway_value *envelope;
  *call = (clearway_method_call){0};
  const clearway_codec_result answer = codec_json_read(bytes, size, depth_with_envelope(limits), values, &envelope);
  if (answer.code != CLEARWAY_CODEC_OK) return answer;
  const clearway_value *method = clearway_find(envelope, "method");
  const clearway_value *arguments = clearway_find(envelope, "args");
  if (method == NULL || method->kind != CLEARWAY_KIND_TEXT) return result(CLEARWAY_CODEC_MALFORMED, 0);
  *call = (clearway_method_call){.method = method, .arguments = arguments == NULL ? &null_value : arguments};
  return done;
}

clearway_codec_result clearway_read_json_envelope(const uint8_t *bytes, size_t size, const clearway_codec_limits *limits,
                                               clearway_values *values, clearway_envelope *envelope) {
  *envelope = (clearway_envelope){.kind = CLEARWAY_ENVELOPE_NONE};
  if (size == 0) return done;
  const clearway_value *whole;
  const clearway_codec_result answer = codec_json_read(bytes, size, depth_with_envelope(limits), values, &whole);
  if (answer.code != CLEARWAY_CODEC_OK) return answer;
  const clearway_codec_result malformed = result(CLEARWAY_CODEC_MALFORMED, 0);
  if (whole->kind != CLEARWAY_KIND_LIST) return malformed;
  const clearway_value *parts[4];
  if (whole->count < 1 || whole->count == 2 || whole->count > 4) return malformed;
  for (size_t at = 0; at < whole->count; at++) parts[at] = clearway_element(whole, at);
  if (whole->count == 1) {
    *envelope = (clearway_envelope){.kind = CLEARWAY_ENVELOPE_SUCCESS, .value = parts[0]};
    return done;
  }
  const clearway_value *stack = whole->count == 4 ? parts[3] : NULL;
  if (parts[0]->kind != CLEARWAY_KIND_TEXT || !is_text_or_null(parts[1])) return malformed;
  if (stack != NULL && !is_text_or_null(stack)) return malformed;
  *envelope = (clearway_envelope){
      .kind = CLEARWAY_ENVELOPE_ERROR, .code = parts[0], .message = parts[1], .details = parts[2], .stack = stack};
  return done;
}
