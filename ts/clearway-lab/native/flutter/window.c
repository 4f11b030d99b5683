// SPDX-License-Identifier: MIT OR Apache-2.0
#include "window.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec.h"
#include "timing.h"
#include "value.h"

static GObject *messenger;

const char *open_window(const char *folder) {
  char path[4096];
  if (messenger != NULL) return NULL;
  if (!gtk_init_check(NULL, NULL)) return "there is no display (DISPLAY)";
  GObject *project = fl_dart_project_new();
  const struct {
    void (*set)(GObject *, const char *);
    const char *name;
  } parts[] = {{fl_dart_project_set_aot_library_path, "lib/libapp.so"},
               {fl_dart_project_set_assets_path, "data/flutter_assets"},
               {fl_dart_project_set_icu_data_path, "data/icudtl.dat"}};
  for (size_t at = 0; at < sizeof parts / sizeof *parts; at++) {
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, parts[at].name) >= sizeof path) return "the path is too long";
    parts[at].set(project, path);
  }
  GObject *window = gtk_window_new(0);
  gtk_window_set_default_size(window, 320, 240);
  GObject *view = fl_view_new(project);
  g_object_unref(project);
  gtk_widget_show(view);
  gtk_container_add(window, view);
  gtk_widget_show(window);
  messenger = fl_engine_get_binary_messenger(fl_view_get_engine(view));
  return messenger == NULL ? "the engine has no messenger" : NULL;
}

typedef struct run run;
/** One message in flight. */
typedef struct slot {
  run *of;
  uint32_t index;
  int64_t begin;
} slot;

struct run {
  const trips *what;
  GObject *channel;
  double *ns;
  uint32_t sent;
  uint32_t answered;
  /** The first answer. The others must be equal. */
  FlValue *value;
  GBytes *bytes;
  bool failed;
  writer *out;
};

static void send_next(slot *from);

static void fail(run *of, const char *text) {
  if (!of->failed) write_bytes(of->out, text, strlen(text));
  of->failed = true;
}

static void fail_with(run *of, GError *error) {
  writer ignored = {0};
  describe_error(of->failed ? &ignored : of->out, error);
  free(ignored.bytes);
  of->failed = true;
}

static void keep_value(run *of, FlValue *value) {
  if (of->value == NULL) of->value = fl_value_ref(value);
  else if (!fl_value_equal(of->value, value)) fail(of, "two answers to the same message differ");
}

static void keep_bytes(run *of, GBytes *bytes) {
  if (of->bytes == NULL) {
    of->bytes = bytes;
    return;
  }
  size_t first_size, size;
  const void *first = g_bytes_get_data(of->bytes, &first_size), *at = g_bytes_get_data(bytes, &size);
  if (first_size != size || (size > 0 && memcmp(first, at, size) != 0)) fail(of, "two answers to the same message differ");
  g_bytes_unref(bytes);
}

/** Takes an answer. Its time includes the codec's decoding, and not the comparison with the first answer. */
static void on_answer(GObject *source, GObject *result, void *data) {
  slot *from = data;
  run *of = from->of;
  GError *error = NULL;
  if (of->what->by == BY_BYTES) {
    GBytes *bytes = fl_binary_messenger_send_on_channel_finish(source, result, &error);
    of->ns[from->index] = (double)(now_ns() - from->begin);
    if (bytes == NULL) fail_with(of, error);
    else keep_bytes(of, bytes);
  } else if (of->what->by == BY_MESSAGE) {
    FlValue *value = fl_basic_message_channel_send_finish(source, result, &error);
    of->ns[from->index] = (double)(now_ns() - from->begin);
    if (value == NULL) fail_with(of, error);
    else {
      keep_value(of, value);
      fl_value_unref(value);
    }
  } else {
    GObject *response = fl_method_channel_invoke_method_finish(source, result, &error);
    FlValue *value = response == NULL ? NULL : fl_method_response_get_result(response, &error);
    of->ns[from->index] = (double)(now_ns() - from->begin);
    if (value == NULL) fail_with(of, error);
    else keep_value(of, value);
    if (response != NULL) g_object_unref(response);
  }
  of->answered++;
  send_next(from);
}

static void send_next(slot *from) {
  run *of = from->of;
  const trips *what = of->what;
  if (of->failed || of->sent == what->count) return;
  from->index = of->sent++;
  from->begin = now_ns();
  if (what->by == BY_BYTES) fl_binary_messenger_send_on_channel(messenger, what->channel, what->bytes, NULL, on_answer, from);
  else if (what->by == BY_MESSAGE) fl_basic_message_channel_send(of->channel, what->value, NULL, on_answer, from);
  else fl_method_channel_invoke_method(of->channel, what->method, what->value, NULL, on_answer, from);
}

static void write_result(run *of, double all_ns) {
  write_f64(of->out, all_ns);
  write_bytes(of->out, of->ns, of->what->count * sizeof *of->ns);
  if (of->what->by != BY_BYTES) {
    if (!write_value(of->out, of->value)) {
      of->out->size = 0;
      fail(of, "the answer has a type that the engine made up");
    }
    return;
  }
  size_t size = 0;
  const void *bytes = g_bytes_get_data(of->bytes, &size);
  write_u32(of->out, (uint32_t)size);
  write_bytes(of->out, bytes, size);
}

bool make_trips(const trips *what, writer *out) {
  run of = {.what = what, .out = out, .ns = calloc(what->count, sizeof *of.ns)};
  slot *slots = calloc(what->in_flight, sizeof *slots);
  if (messenger == NULL || of.ns == NULL || slots == NULL) fail(&of, messenger == NULL ? "there is no window" : "out of memory");
  else {
    if (what->by == BY_MESSAGE) of.channel = fl_basic_message_channel_new(messenger, what->channel, codec_of(what->codec));
    if (what->by == BY_METHOD) of.channel = fl_method_channel_new(messenger, what->channel, codec_of(what->codec));
    const int64_t begin = now_ns();
    for (uint32_t at = 0; at < what->in_flight; at++) {
      slots[at].of = &of;
      send_next(&slots[at]);
    }
    // Also after a failure: the slots must live until the last answer.
    while (of.answered < of.sent) g_main_context_iteration(NULL, 1);
    if (!of.failed) write_result(&of, (double)(now_ns() - begin));
  }
  if (of.channel != NULL) g_object_unref(of.channel);
  if (of.value != NULL) fl_value_unref(of.value);
  if (of.bytes != NULL) g_bytes_unref(of.bytes);
  free(of.ns);
  free(slots);
  return !of.failed;
}
