// SPDX-License-Identifier: MIT OR Apache-2.0
// The functions of Flutter's Linux engine (libflutter_linux_gtk.so) and of GTK that this program calls. They are looked up when the
// program starts, so that neither needs headers or a library when the program is compiled. Only what the engine's public headers declare
// is used. Memory of the engine is counted: a function that makes a value or bytes gives them to the caller, who releases them.
#ifndef CLEARWAY_LAB_FLUTTER_ENGINE_H
#define CLEARWAY_LAB_FLUTTER_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct FlValue FlValue;
typedef struct GBytes GBytes;
typedef struct GError {
  uint32_t domain;
  int code;
  char *message;
} GError;
/** Any object of GObject. Its first word points to its class. */
typedef struct GObject {
  void *class_of;
} GObject;
typedef void (*GAsyncReadyCallback)(GObject *source, GObject *result, void *data);

enum {
  FL_NULL,
  FL_BOOL,
  FL_INT,
  FL_FLOAT,
  FL_STRING,
  FL_UINT8_LIST,
  FL_INT32_LIST,
  FL_INT64_LIST,
  FL_FLOAT_LIST,
  FL_LIST,
  FL_MAP,
  FL_FLOAT32_LIST,
};

/** The class of a method codec: the 17 words of GObjectClass, and the functions that the engine's header fl_method_codec.h declares. */
typedef struct FlMethodCodecClass {
  void *parent[17];
  GBytes *(*encode_method_call)(GObject *codec, const char *name, FlValue *args, GError **error);
  int (*decode_method_call)(GObject *codec, GBytes *message, char **name, FlValue **args, GError **error);
  GBytes *(*encode_success_envelope)(GObject *codec, FlValue *result, GError **error);
  GBytes *(*encode_error_envelope)(GObject *codec, const char *code, const char *message, FlValue *details, GError **error);
  GObject *(*decode_response)(GObject *codec, GBytes *message, GError **error);
} FlMethodCodecClass;

/** X(type of the result, name, parameters) */
#define SYSTEM_FUNCTIONS(X)                                                     \
  X(int, gtk_init_check, (int *, char ***))                                     \
  X(GObject *, gtk_window_new, (int))                                           \
  X(void, gtk_window_set_default_size, (GObject *, int, int))                   \
  X(void, gtk_container_add, (GObject *, GObject *))                            \
  X(void, gtk_widget_show, (GObject *))                                         \
  X(int, g_main_context_iteration, (void *, int))                               \
  X(GBytes *, g_bytes_new, (const void *, size_t))                              \
  X(const void *, g_bytes_get_data, (GBytes *, size_t *))                       \
  X(void, g_bytes_unref, (GBytes *))                                            \
  X(void, g_object_unref, (GObject *))                                          \
  X(void, g_error_free, (GError *))                                             \
  X(const char *, g_quark_to_string, (uint32_t))                                \
  X(void, g_free, (void *))                                                     \
  X(int, g_type_check_instance_is_a, (GObject *, size_t))

#define ENGINE_FUNCTIONS(X)                                                                                          \
  X(FlValue *, fl_value_new_null, (void))                                                                            \
  X(FlValue *, fl_value_new_bool, (bool))                                                                            \
  X(FlValue *, fl_value_new_int, (int64_t))                                                                          \
  X(FlValue *, fl_value_new_float, (double))                                                                         \
  X(FlValue *, fl_value_new_string_sized, (const char *, size_t))                                                    \
  X(FlValue *, fl_value_new_uint8_list, (const uint8_t *, size_t))                                                   \
  X(FlValue *, fl_value_new_int32_list, (const int32_t *, size_t))                                                   \
  X(FlValue *, fl_value_new_int64_list, (const int64_t *, size_t))                                                   \
  X(FlValue *, fl_value_new_float32_list, (const float *, size_t))                                                   \
  X(FlValue *, fl_value_new_float_list, (const double *, size_t))                                                    \
  X(FlValue *, fl_value_new_list, (void))                                                                            \
  X(FlValue *, fl_value_new_map, (void))                                                                             \
  X(void, fl_value_append_take, (FlValue *, FlValue *))                                                              \
  X(void, fl_value_set_take, (FlValue *, FlValue *, FlValue *))                                                      \
  X(FlValue *, fl_value_ref, (FlValue *))                                                                            \
  X(void, fl_value_unref, (FlValue *))                                                                               \
  X(bool, fl_value_equal, (FlValue *, FlValue *))                                                                    \
  X(int, fl_value_get_type, (FlValue *))                                                                             \
  X(bool, fl_value_get_bool, (FlValue *))                                                                            \
  X(int64_t, fl_value_get_int, (FlValue *))                                                                          \
  X(double, fl_value_get_float, (FlValue *))                                                                         \
  X(const char *, fl_value_get_string, (FlValue *))                                                                  \
  X(const uint8_t *, fl_value_get_uint8_list, (FlValue *))                                                           \
  X(const int32_t *, fl_value_get_int32_list, (FlValue *))                                                           \
  X(const int64_t *, fl_value_get_int64_list, (FlValue *))                                                           \
  X(const float *, fl_value_get_float32_list, (FlValue *))                                                           \
  X(const double *, fl_value_get_float_list, (FlValue *))                                                            \
  X(size_t, fl_value_get_length, (FlValue *))                                                                        \
  X(FlValue *, fl_value_get_list_value, (FlValue *, size_t))                                                         \
  X(FlValue *, fl_value_get_map_key, (FlValue *, size_t))                                                            \
  X(FlValue *, fl_value_get_map_value, (FlValue *, size_t))                                                          \
  X(GObject *, fl_standard_message_codec_new, (void))                                                                \
  X(GObject *, fl_json_message_codec_new, (void))                                                                    \
  X(GObject *, fl_string_codec_new, (void))                                                                          \
  X(GObject *, fl_binary_codec_new, (void))                                                                          \
  X(GObject *, fl_standard_method_codec_new, (void))                                                                 \
  X(GObject *, fl_json_method_codec_new, (void))                                                                     \
  X(GBytes *, fl_message_codec_encode_message, (GObject *, FlValue *, GError **))                                    \
  X(FlValue *, fl_message_codec_decode_message, (GObject *, GBytes *, GError **))                                    \
  X(FlValue *, fl_method_response_get_result, (GObject *, GError **))                                                \
  X(size_t, fl_method_error_response_get_type, (void))                                                               \
  X(const char *, fl_method_error_response_get_code, (GObject *))                                                    \
  X(const char *, fl_method_error_response_get_message, (GObject *))                                                 \
  X(FlValue *, fl_method_error_response_get_details, (GObject *))                                                    \
  X(GObject *, fl_dart_project_new, (void))                                                                          \
  X(void, fl_dart_project_set_aot_library_path, (GObject *, const char *))                                           \
  X(void, fl_dart_project_set_assets_path, (GObject *, const char *))                                                \
  X(void, fl_dart_project_set_icu_data_path, (GObject *, const char *))                                              \
  X(GObject *, fl_view_new, (GObject *))                                                                             \
  X(GObject *, fl_view_get_engine, (GObject *))                                                                      \
  X(GObject *, fl_engine_get_binary_messenger, (GObject *))                                                          \
  X(void, fl_binary_messenger_send_on_channel, (GObject *, const char *, GBytes *, GObject *, GAsyncReadyCallback, void *)) \
  X(GBytes *, fl_binary_messenger_send_on_channel_finish, (GObject *, GObject *, GError **))                         \
  X(GObject *, fl_basic_message_channel_new, (GObject *, const char *, GObject *))                                   \
  X(void, fl_basic_message_channel_send, (GObject *, FlValue *, GObject *, GAsyncReadyCallback, void *))             \
  X(FlValue *, fl_basic_message_channel_send_finish, (GObject *, GObject *, GError **))                              \
  X(GObject *, fl_method_channel_new, (GObject *, const char *, GObject *))                                          \
  X(void, fl_method_channel_invoke_method, (GObject *, const char *, FlValue *, GObject *, GAsyncReadyCallback, void *)) \
  X(GObject *, fl_method_channel_invoke_method_finish, (GObject *, GObject *, GError **))

#define DECLARED(result, name, parameters) extern result(*name) parameters;
SYSTEM_FUNCTIONS(DECLARED)
ENGINE_FUNCTIONS(DECLARED)
#undef DECLARED

/** Loads GTK and the engine in `folder`/lib. Returns null, or why they cannot be loaded. The text is valid until the next call. */
const char *engine_load(const char *folder);

#endif
