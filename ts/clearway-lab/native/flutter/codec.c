// SPDX-License-Identifier: MIT OR Apache-2.0
#include "codec.h"

#include <stdio.h>
#include <string.h>

GObject *codec_of(uint8_t name) {
  static GObject *codecs[CODEC_COUNT];
  GObject *(*const makers[CODEC_COUNT])(void) = {fl_standard_message_codec_new, fl_json_message_codec_new,    fl_string_codec_new,
                                                 fl_binary_codec_new,           fl_standard_method_codec_new, fl_json_method_codec_new};
  if (name >= CODEC_COUNT) return NULL;
  if (codecs[name] == NULL) codecs[name] = makers[name]();
  return codecs[name];
}

bool is_method_codec(uint8_t name) { return name == CODEC_STANDARD_METHOD || name == CODEC_JSON_METHOD; }

void describe_error(writer *problem, GError *error) {
  char text[600];
  if (error == NULL) {
    write_bytes(problem, "the engine gave no reason", 25);
    return;
  }
  const char *domain = g_quark_to_string(error->domain);
  const int size = snprintf(text, sizeof text, "%s %d: %s", domain == NULL ? "error" : domain, error->code, error->message);
  write_bytes(problem, text, (size_t)size < sizeof text ? (size_t)size : sizeof text - 1);
  g_error_free(error);
}

static FlValue *part(FlValue *list, size_t at) {
  return fl_value_get_length(list) > at ? fl_value_get_list_value(list, at) : NULL;
}

/** Returns the text of a part, or null if the part is not a text. */
static const char *text_of(FlValue *list, size_t at) {
  FlValue *value = part(list, at);
  return value != NULL && fl_value_get_type(value) == FL_STRING ? fl_value_get_string(value) : NULL;
}

static GBytes *encode_method(GObject *codec, FlValue *method, writer *problem) {
  const FlMethodCodecClass *functions = codec->class_of;
  const char *kind = fl_value_get_type(method) == FL_LIST ? text_of(method, 0) : NULL;
  GError *error = NULL;
  GBytes *bytes = NULL;
  if (kind != NULL && strcmp(kind, "call") == 0 && text_of(method, 1) != NULL)
    bytes = functions->encode_method_call(codec, text_of(method, 1), part(method, 2), &error);
  else if (kind != NULL && strcmp(kind, "success") == 0)
    bytes = functions->encode_success_envelope(codec, part(method, 1), &error);
  else if (kind != NULL && strcmp(kind, "error") == 0 && text_of(method, 1) != NULL)
    bytes = functions->encode_error_envelope(codec, text_of(method, 1), text_of(method, 2), part(method, 3), &error);
  else {
    write_bytes(problem, "the value is no method", 22);
    return NULL;
  }
  if (bytes == NULL) describe_error(problem, error);
  return bytes;
}

GBytes *codec_encode(uint8_t name, FlValue *value, writer *problem) {
  GObject *codec = codec_of(name);
  if (is_method_codec(name)) return encode_method(codec, value, problem);
  GError *error = NULL;
  GBytes *bytes = fl_message_codec_encode_message(codec, value, &error);
  if (bytes == NULL) describe_error(problem, error);
  return bytes;
}

static FlValue *new_text(const char *text) { return fl_value_new_string_sized(text, strlen(text)); }

/** Appends a value that somebody else owns. No value is null. */
static void append(FlValue *list, FlValue *value) {
  fl_value_append_take(list, value == NULL ? fl_value_new_null() : fl_value_ref(value));
}

static FlValue *decode_call(GObject *codec, GBytes *message, GError **error) {
  const FlMethodCodecClass *functions = codec->class_of;
  char *name = NULL;
  FlValue *arguments = NULL;
  if (!functions->decode_method_call(codec, message, &name, &arguments, error)) return NULL;
  FlValue *call = fl_value_new_list();
  fl_value_append_take(call, new_text("call"));
  fl_value_append_take(call, new_text(name));
  append(call, arguments);
  g_free(name);
  if (arguments != NULL) fl_value_unref(arguments);
  return call;
}

static FlValue *decode_reply(GObject *codec, GBytes *message, GError **error) {
  const FlMethodCodecClass *functions = codec->class_of;
  GObject *response = functions->decode_response(codec, message, error);
  if (response == NULL) return NULL;
  FlValue *reply = fl_value_new_list();
  if (g_type_check_instance_is_a(response, fl_method_error_response_get_type())) {
    const char *text = fl_method_error_response_get_message(response);
    fl_value_append_take(reply, new_text("error"));
    fl_value_append_take(reply, new_text(fl_method_error_response_get_code(response)));
    fl_value_append_take(reply, text == NULL ? fl_value_new_null() : new_text(text));
    append(reply, fl_method_error_response_get_details(response));
  } else {
    fl_value_append_take(reply, new_text("success"));
    append(reply, fl_method_response_get_result(response, NULL));
  }
  g_object_unref(response);
  return reply;
}

FlValue *codec_decode(uint8_t name, uint8_t as, GBytes *message, writer *problem) {
  GObject *codec = codec_of(name);
  GError *error = NULL;
  FlValue *value = !is_method_codec(name) ? fl_message_codec_decode_message(codec, message, &error)
                   : as == AS_CALL        ? decode_call(codec, message, &error)
                                          : decode_reply(codec, message, &error);
  if (value == NULL) describe_error(problem, error);
  return value;
}
