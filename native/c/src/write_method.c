// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes the calls and replies of the standard method codec and of the JSON method codec.
#include "message.h"

static bool is_text(const clearway_value *value) { return value != NULL && value->kind == CLEARWAY_KIND_TEXT; }

static bool is_error(const clearway_envelope *envelope) {
  return is_text(envelope->code) && is_text_or_null(envelope->message) && is_text_or_null(envelope->stack);
}

typedef clearway_codec_result put_part(clearway_message *, uint32_t, uint32_t, const clearway_value *);

// Writes values one after the other, with the text `between` between them.
static clearway_codec_result put_parts(clearway_message *message, put_part *put_one, uint32_t depth_max,
                                       const clearway_value *const *parts, size_t count, const char *between) {
  for (size_t at = 0; at < count; at++) {
    if (at > 0) put(message, between, strlen(between));
    const clearway_codec_result answer = put_one(message, depth_max, 0, parts[at] == NULL ? &null_value : parts[at]);
    if (answer.code != CLEARWAY_CODEC_OK) return answer;
  }
  return done;
}

static clearway_codec_result ended(clearway_message *message, clearway_codec_result answer, const char *end) {
  if (answer.code != CLEARWAY_CODEC_OK) return answer;
  put(message, end, strlen(end));
  return written(message);
}

clearway_codec_result clearway_write_standard_call(clearway_message *message, const clearway_codec_limits *limits,
                                                   const clearway_method_call *call) {
  if (!is_little_endian()) return result(CLEARWAY_CODEC_UNSUPPORTED_HOST, 0);
  if (!is_text(call->method)) return result(CLEARWAY_CODEC_NOT_ENCODABLE, 0);
  const clearway_value *const parts[] = {call->method, call->arguments};
  return ended(message, put_parts(message, codec_put_value, depth_max_of(limits), parts, 2, ""), "");
}

clearway_codec_result clearway_write_json_call(clearway_message *message, const clearway_codec_limits *limits,
                                               const clearway_method_call *call) {
  if (!is_text(call->method)) return result(CLEARWAY_CODEC_NOT_ENCODABLE, 0);
  const clearway_value *const parts[] = {call->method, call->arguments};
  static const char begin[] = "{\"method\":";
  put(message, begin, sizeof begin - 1);
  return ended(message, put_parts(message, codec_put_json, depth_max_of(limits), parts, 2, ",\"args\":"), "}");
}

static clearway_codec_result put_reply(clearway_message *message, put_part *put_one, uint32_t depth_max,
                                       const clearway_envelope *envelope, const char *between) {
  if (envelope->kind == CLEARWAY_ENVELOPE_SUCCESS) return put_parts(message, put_one, depth_max, &envelope->value, 1, between);
  const clearway_value *const parts[] = {envelope->code, envelope->message, envelope->details, envelope->stack};
  return put_parts(message, put_one, depth_max, parts, envelope->stack == NULL ? 3 : 4, between);
}

clearway_codec_result clearway_write_standard_envelope(clearway_message *message, const clearway_codec_limits *limits,
                                                    const clearway_envelope *envelope) {
  if (!is_little_endian()) return result(CLEARWAY_CODEC_UNSUPPORTED_HOST, 0);
  if (envelope->kind == CLEARWAY_ENVELOPE_NONE) return written(message);
  if (envelope->kind == CLEARWAY_ENVELOPE_ERROR && !is_error(envelope)) return result(CLEARWAY_CODEC_NOT_ENCODABLE, 0);
  put_byte(message, envelope->kind == CLEARWAY_ENVELOPE_SUCCESS ? ENVELOPE_SUCCESS : ENVELOPE_ERROR);
  return ended(message, put_reply(message, codec_put_value, depth_max_of(limits), envelope, ""), "");
}

clearway_codec_result clearway_write_json_envelope(clearway_message *message, const clearway_codec_limits *limits,
                                                const clearway_envelope *envelope) {
  if (envelope->kind == CLEARWAY_ENVELOPE_NONE) return written(message);
  if (envelope->kind == CLEARWAY_ENVELOPE_ERROR && !is_error(envelope)) return result(CLEARWAY_CODEC_NOT_ENCODABLE, 0);
  put_byte(message, '[');
  return ended(message, put_reply(message, codec_put_json, depth_max_of(limits), envelope, ","), "]");
}
