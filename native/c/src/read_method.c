// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads calls and replies of the standard method codec.
#include "read_standard.h"

// Reads a text, or null if `or_null` is set. For any other type, refuses the message as malformed at the type byte.
static bool read_text_value(reader *in, bool or_null, size_t *index) {
  if (in->failed.code != CLEARWAY_CODEC_OK) return false;
  if (in->at == in->size) return codec_refuse(in, CLEARWAY_CODEC_TRUNCATED, in->at);
  const uint8_t tag = in->bytes[in->at];
  if (tag != TAG_TEXT && !(or_null && tag == TAG_NULL)) return codec_refuse(in, CLEARWAY_CODEC_MALFORMED, in->at);
  return codec_read_value(in, index);
}

clearway_codec_result clearway_read_standard_call(const uint8_t *bytes, size_t size, const clearway_codec_limits *limits,
                                                  clearway_values *values, clearway_method_call *call) {
  reader in = codec_reader(bytes, size, limits, values);
  size_t method = 0;
  size_t arguments = 0;
  *call = (clearway_method_call){0};
  if (read_text_value(&in, false, &method)) codec_read_value(&in, &arguments);
  const clearway_codec_result answer = codec_finish(&in);
  if (answer.code == CLEARWAY_CODEC_OK)
    *call = (clearway_method_call){.method = values->at + method, .arguments = values->at + arguments};
  return answer;
}

static bool read_error(reader *in, size_t parts[4], bool *with_stack) {
  if (!read_text_value(in, false, &parts[0]) || !read_text_value(in, true, &parts[1]) || !codec_read_value(in, &parts[2]))
    return false;
  *with_stack = in->at < in->size;
  return !*with_stack || read_text_value(in, true, &parts[3]);
}

clearway_codec_result clearway_read_standard_envelope(const uint8_t *bytes, size_t size, const clearway_codec_limits *limits,
                                                   clearway_values *values, clearway_envelope *envelope) {
  reader in = codec_reader(bytes, size, limits, values);
  *envelope = (clearway_envelope){.kind = CLEARWAY_ENVELOPE_NONE};
  if (in.failed.code != CLEARWAY_CODEC_OK || size == 0) return in.failed;
  size_t parts[4] = {0};
  bool with_stack = false;
  const uint8_t first = bytes[in.at++];
  if (first == ENVELOPE_SUCCESS)
    codec_read_value(&in, &parts[0]);
  else if (first == ENVELOPE_ERROR)
    read_error(&in, parts, &with_stack);
  else
    codec_refuse(&in, CLEARWAY_CODEC_MALFORMED, 0);
  const clearway_codec_result answer = codec_finish(&in);
  if (answer.code != CLEARWAY_CODEC_OK) return answer;
  if (first == ENVELOPE_SUCCESS) {
    *envelope = (clearway_envelope){.kind = CLEARWAY_ENVELOPE_SUCCESS, .value = values->at + parts[0]};
    return answer;
  }
  *envelope = (clearway_envelope){.kind = CLEARWAY_ENVELOPE_ERROR,
                            .code = values->at + parts[0],
                            .message = values->at + parts[1],
                            .details = values->at + parts[2],
                            .stack = with_stack ? values->at + parts[3] : NULL};
  return answer;
}
