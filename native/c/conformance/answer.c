// SPDX-License-Identifier: MIT OR Apache-2.0
// Answers one conformance case. conformance/README.md defines the cases.
#include "conformance.h"

#include <stdio.h>
#include <string.h>

// Appends the answer to an invalid case, for example one with an odd number of hex digits. No codec reads such a case.
static bool put_invalid(notation_text *out) {
  notation_put_string(out, "\"error\":{\"code\":\"invalid-argument\",\"offset\":0}");
  return true;
}

static bool put_refusal(notation_text *out, clearway_codec_result refusal) {
  char text[96];
  snprintf(text, sizeof text, "\"error\":{\"code\":\"%s\",\"offset\":%zu}", clearway_codec_code_name(refusal.code),
           refusal.offset);
  notation_put_string(out, text);
  return true;
}

static clearway_values values_for(size_t size) {
  // A message of `size` bytes, or a notation of `size` values, has at most `size` values. Each part that is missing in the
  // notation of an envelope becomes one more value, null. An envelope has at most four parts.
  const size_t capacity = size + 4;
  return (clearway_values){.at = pool_take(capacity * sizeof(clearway_value)),
                           .capacity = capacity,
                           .text = pool_take(size),
                           .text_capacity = size};
}

typedef clearway_codec_result write_value(clearway_message *, const clearway_codec_limits *, const clearway_value *);
typedef clearway_codec_result write_call(clearway_message *, const clearway_codec_limits *, const clearway_method_call *);
typedef clearway_codec_result write_envelope(clearway_message *, const clearway_codec_limits *, const clearway_envelope *);

static clearway_codec_result write_bytes(clearway_message *message, const clearway_codec_limits *limits,
                                         const clearway_value *value) {
  (void)limits;
  const bool text = value->kind == CLEARWAY_KIND_TEXT;
  const bool null = value->kind == CLEARWAY_KIND_NULL;
  if (!text && !null && value->kind != CLEARWAY_KIND_UINT8_LIST)
    return (clearway_codec_result){.code = CLEARWAY_CODEC_NOT_ENCODABLE};
  const size_t size = null ? 0 : value->count;
  if (size > 0 && message->capacity >= size) memcpy(message->bytes, value->as.bytes, size);
  message->size = size;
  return (clearway_codec_result){.code = message->capacity >= size ? CLEARWAY_CODEC_OK : CLEARWAY_CODEC_NO_ROOM,
                                 .offset = size};
}

typedef struct asked {
  write_value *value;
  write_call *call;
  write_envelope *envelope;
  const clearway_value *one;
  const clearway_method_call *method;
  const clearway_envelope *reply;
} asked;

static clearway_codec_result write_asked(clearway_message *message, const asked *what) {
  if (what->one != NULL) return what->value(message, NULL, what->one);
  if (what->method != NULL) return what->call(message, NULL, what->method);
  return what->envelope(message, NULL, what->reply);
}

// Writes the message twice: first without memory, to measure its size, and then into memory of exactly that size.
static bool put_message(notation_text *out, const asked *what) {
  clearway_message message = {0};
  clearway_codec_result answer = write_asked(&message, what);
  if (answer.code == CLEARWAY_CODEC_NO_ROOM) {
    message = (clearway_message){.bytes = pool_take(message.size), .capacity = message.size};
    answer = write_asked(&message, what);
  }
  if (answer.code != CLEARWAY_CODEC_OK) return put_refusal(out, answer);
  notation_put_string(out, "\"hex\":\"");
  for (size_t at = 0; at < message.size; at++) {
    const char digits[2] = {"0123456789abcdef"[message.bytes[at] >> 4], "0123456789abcdef"[message.bytes[at] & 15]};
    notation_put(out, digits, 2);
  }
  notation_put_string(out, "\"");
  return true;
}

// Returns the value of a notation. Returns the value null if `notation` is a null pointer, and a null pointer if the notation is
// invalid.
static const clearway_value *part(clearway_values *values, const clearway_value *notation, bool plain) {
  const size_t index = values->used;
  const clearway_value none = {.kind = CLEARWAY_KIND_NULL, .nodes = 1};
  return notation_read(values, notation == NULL ? &none : notation, plain) ? values->at + index : NULL;
}

static bool encode(notation_text *out, const clearway_value *codec, const clearway_value *notation, size_t size) {
  const bool plain = clearway_text_is(codec, "json") || clearway_text_is(codec, "json-method");
  const bool method = clearway_text_is(codec, "standard-method") || clearway_text_is(codec, "json-method");
  const bool bytes = clearway_text_is(codec, "string") || clearway_text_is(codec, "binary");
  clearway_values values = values_for(size);
  if (notation == NULL || !(plain || method || bytes || clearway_text_is(codec, "standard"))) return put_invalid(out);
  asked what = {.value = bytes ? write_bytes : plain ? clearway_write_json : clearway_write_standard,
                .call = plain ? clearway_write_json_call : clearway_write_standard_call,
                .envelope = plain ? clearway_write_json_envelope : clearway_write_standard_envelope};
  if (!method) {
    // In the JSON codec, the message null has no bytes.
    if (plain && notation->kind == CLEARWAY_KIND_NULL) return put_message(out, &(asked){.value = write_bytes, .one = notation});
    what.one = part(&values, notation, plain);
    return what.one == NULL ? put_invalid(out) : put_message(out, &what);
  }
  const clearway_value *call = clearway_find(notation, "call");
  const clearway_value *error = clearway_find(notation, "error");
  if (call != NULL) {
    const clearway_method_call read = {.method = part(&values, clearway_find(call, "method"), plain),
                                       .arguments = part(&values, clearway_find(call, "args"), plain)};
    what.method = &read;
    return read.method == NULL || read.arguments == NULL ? put_invalid(out) : put_message(out, &what);
  }
  clearway_envelope reply = {.kind = CLEARWAY_ENVELOPE_SUCCESS};
  what.reply = &reply;
  if (error == NULL) {
    reply.value = part(&values, clearway_find(notation, "success"), plain);
    return reply.value == NULL ? put_invalid(out) : put_message(out, &what);
  }
  const clearway_value *stack = clearway_find(error, "stacktrace");
  reply.kind = CLEARWAY_ENVELOPE_ERROR;
  reply.code = part(&values, clearway_find(error, "code"), plain);
  reply.message = part(&values, clearway_find(error, "message"), plain);
  reply.details = part(&values, clearway_find(error, "details"), plain);
  reply.stack = stack == NULL ? NULL : part(&values, stack, plain);
  return reply.details == NULL ? put_invalid(out) : put_message(out, &what);
}

static bool put_named(notation_text *out, const char *before, const clearway_value *value, const char *after) {
  notation_put_string(out, before);
  notation_write(out, value);
  notation_put_string(out, after);
  return true;
}

static bool put_call(notation_text *out, const clearway_method_call *call) {
  put_named(out, "\"value\":{\"call\":{\"method\":", call->method, "");
  return put_named(out, ",\"args\":", call->arguments, "}}");
}

static bool put_envelope(notation_text *out, const clearway_envelope *reply) {
  // A channel reads a reply without bytes as "no reply". In the conformance cases, such a reply is a truncated envelope.
  if (reply->kind == CLEARWAY_ENVELOPE_NONE)
    return put_refusal(out, (clearway_codec_result){.code = CLEARWAY_CODEC_TRUNCATED});
  if (reply->kind == CLEARWAY_ENVELOPE_SUCCESS) return put_named(out, "\"value\":{\"success\":", reply->value, "}");
  put_named(out, "\"value\":{\"error\":{\"code\":", reply->code, "");
  put_named(out, ",\"message\":", reply->message, "");
  put_named(out, ",\"details\":", reply->details, "");
  if (reply->stack != NULL) put_named(out, ",\"stacktrace\":", reply->stack, "");
  notation_put_string(out, "}}");
  return true;
}

static bool decode(notation_text *out, const clearway_value *codec, const uint8_t *bytes, size_t size, bool as_call) {
  clearway_values values = values_for(size);
  const clearway_value *value = NULL;
  clearway_method_call call = {0};
  clearway_envelope reply = {0};
  clearway_codec_result answer = {0};
  const bool json = clearway_text_is(codec, "json-method");
  if (json || clearway_text_is(codec, "standard-method")) {
    if (as_call)
      answer = (json ? clearway_read_json_call : clearway_read_standard_call)(bytes, size, NULL, &values, &call);
    else
      answer = (json ? clearway_read_json_envelope : clearway_read_standard_envelope)(bytes, size, NULL, &values, &reply);
    if (answer.code != CLEARWAY_CODEC_OK) return put_refusal(out, answer);
    return as_call ? put_call(out, &call) : put_envelope(out, &reply);
  }
  if (clearway_text_is(codec, "standard")) {
    answer = clearway_read_standard(bytes, size, NULL, &values, &value);
  } else if (clearway_text_is(codec, "json")) {
    answer = clearway_read_json(bytes, size, NULL, &values, &value);
    // The message null has no bytes. The reader refuses it, because no bytes are no JSON.
    if (size == 0 && answer.code == CLEARWAY_CODEC_MALFORMED) {
      answer.code = CLEARWAY_CODEC_OK;
      value = clearway_add_null(&values);
    }
  } else if (clearway_text_is(codec, "string")) {
    answer = clearway_check_text(bytes, size);
    value = clearway_add_text(&values, (const char *)bytes, size);
  } else if (clearway_text_is(codec, "binary")) {
    value = clearway_add_numbers(&values, CLEARWAY_KIND_UINT8_LIST, bytes, size);
  } else {
    return put_invalid(out);
  }
  return answer.code == CLEARWAY_CODEC_OK ? put_named(out, "\"value\":", value, "") : put_refusal(out, answer);
}

static int hex_digit(uint8_t byte) {
  const uint8_t lower = byte | 0x20;
  return byte >= '0' && byte <= '9' ? byte - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

static bool decode_hex(notation_text *out, const clearway_value *codec, const clearway_value *hex, bool as_call) {
  if (hex == NULL || hex->kind != CLEARWAY_KIND_TEXT || hex->count % 2 != 0) return put_invalid(out);
  // The memory has exactly the message's size, so that a sanitizer detects a read past the end.
  uint8_t *bytes = pool_take(hex->count / 2);
  for (size_t at = 0; at < hex->count / 2; at++) {
    const int high = hex_digit(hex->as.bytes[at * 2]);
    const int low = hex_digit(hex->as.bytes[at * 2 + 1]);
    if (high < 0 || low < 0) return put_invalid(out);
    bytes[at] = (uint8_t)(high << 4 | low);
  }
  return decode(out, codec, bytes, hex->count / 2, as_call);
}

void answer_line(notation_text *out, const uint8_t *line, size_t size) {
  // A case's own JSON may be nested deeper than a message.
  const clearway_codec_limits limits = {.depth_max = UINT32_MAX, .items_max = UINT32_MAX};
  clearway_values values = values_for(size);
  const clearway_value *asked_for = NULL;
  clearway_read_json(line, size, &limits, &values, &asked_for);
  const clearway_value *id = clearway_find(asked_for, "id");
  const clearway_value *codec = clearway_find(asked_for, "codec");
  const clearway_value *op = clearway_find(asked_for, "op");
  put_named(out, "{\"id\":", id == NULL ? &(clearway_value){.kind = CLEARWAY_KIND_NULL, .nodes = 1} : id, ",");
  if (clearway_text_is(op, "encode"))
    encode(out, codec, clearway_find(asked_for, "value"), values.used);
  else if (clearway_text_is(op, "decode"))
    decode_hex(out, codec, clearway_find(asked_for, "hex"), clearway_text_is(clearway_find(asked_for, "as"), "call"));
  else
    put_invalid(out);
  notation_put_string(out, "}");
}
