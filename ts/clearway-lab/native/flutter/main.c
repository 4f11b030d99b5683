// SPDX-License-Identifier: MIT OR Apache-2.0
// `peer FOLDER`: Flutter's own engine as a peer. Loads the engine of the app in FOLDER, answers the requests of its standard input (see
// frame.h), one at a time, and ends at the end of the input. Ends also if its parent ends. Everything that the engine and the Dart
// program print goes to stderr.
//
//   c                                              -> nothing: the engine is loaded
//   e u8 codec, value                              -> bytes
//   d u8 codec, u8 as, bytes                       -> value
//   t u8 codec, u32 batches, value                 -> see time_codec
//   w                                              -> nothing: the window is open
//   r u8 by, u8 codec, u32 count, u32 in flight, text channel, then
//       bytes | value | text method, value         -> see make_trips
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "codec.h"
#include "engine.h"
#include "frame.h"
#include "timing.h"
#include "value.h"
#include "window.h"

static const uint32_t count_max = 1000000;
static const uint32_t in_flight_max = 64;

static bool refuse(writer *out, const char *why) {
  out->size = 0;
  write_bytes(out, why, strlen(why));
  return false;
}

static bool put_bytes(writer *out, GBytes *bytes) {
  if (bytes == NULL) return false;
  size_t size = 0;
  const void *at = g_bytes_get_data(bytes, &size);
  write_bytes(out, at, size);
  g_bytes_unref(bytes);
  return true;
}

/** Reads the value at the end of a request. */
static FlValue *last_value(reader *from, writer *out) {
  const char *problem = NULL;
  FlValue *value = read_value(from, &problem);
  if (value != NULL && from->left == 0) return value;
  refuse(out, value == NULL ? problem : "bytes follow the value of the request");
  if (value != NULL) fl_value_unref(value);
  return NULL;
}

static bool encode(reader *from, writer *out) {
  const uint8_t codec = read_u8(from);
  if (codec_of(codec) == NULL) return refuse(out, "unknown codec");
  FlValue *value = last_value(from, out);
  if (value == NULL) return false;
  GBytes *bytes = codec_encode(codec, value, out);
  fl_value_unref(value);
  return put_bytes(out, bytes);
}

static bool decode(reader *from, writer *out) {
  const uint8_t codec = read_u8(from);
  const uint8_t as = read_u8(from);
  if (from->bad || codec_of(codec) == NULL) return refuse(out, "unknown codec");
  GBytes *message = g_bytes_new(from->at, from->left);
  FlValue *value = codec_decode(codec, as, message, out);
  g_bytes_unref(message);
  if (value == NULL) return false;
  const bool written = write_value(out, value);
  fl_value_unref(value);
  return written || refuse(out, "the engine decoded a value of an unknown type");
}

static bool time_it(reader *from, writer *out) {
  const uint8_t codec = read_u8(from);
  const uint32_t batches = read_u32(from);
  if (from->bad || codec_of(codec) == NULL || is_method_codec(codec)) return refuse(out, "unknown codec");
  if (batches == 0 || batches > count_max) return refuse(out, "batches must be 1 to 1000000");
  FlValue *value = last_value(from, out);
  if (value == NULL) return false;
  const bool timed = time_codec(codec, value, batches, out);
  fl_value_unref(value);
  return timed;
}

static bool trip(reader *from, writer *out) {
  trips what = {.by = read_u8(from)};
  what.codec = read_u8(from);
  what.count = read_u32(from);
  what.in_flight = read_u32(from);
  char *channel = read_text(from);
  char *method = what.by == BY_METHOD ? read_text(from) : NULL;
  what.channel = channel;
  what.method = method;
  bool made = false;
  if (from->bad || codec_of(what.codec) == NULL || what.by > BY_METHOD) refuse(out, "unknown codec, channel or method");
  else if (is_method_codec(what.codec) != (what.by == BY_METHOD) && what.by != BY_BYTES) refuse(out, "the codec is for another channel");
  else if (what.count == 0 || what.count > count_max) refuse(out, "count must be 1 to 1000000");
  else if (what.in_flight == 0 || what.in_flight > in_flight_max) refuse(out, "in flight must be 1 to 64");
  else if (what.by == BY_BYTES) {
    what.bytes = g_bytes_new(from->at, from->left);
    made = make_trips(&what, out);
    g_bytes_unref(what.bytes);
  } else if ((what.value = last_value(from, out)) != NULL) {
    made = make_trips(&what, out);
    fl_value_unref(what.value);
  }
  free(channel);
  free(method);
  return made;
}

static bool answer(const char *folder, reader *from, writer *out) {
  switch (read_u8(from)) {
    case 'c': return true;
    case 'e': return encode(from, out);
    case 'd': return decode(from, out);
    case 't': return time_it(from, out);
    case 'w': {
      const char *problem = open_window(folder);
      return problem == NULL || refuse(out, problem);
    }
    case 'r': return trip(from, out);
    default: return refuse(out, "unknown operation");
  }
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fputs("usage: peer FOLDER\n", stderr);
    return 2;
  }
  const pid_t parent = getppid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) return 1;
  signal(SIGPIPE, SIG_IGN);
  // The engine and the Dart program may print. Only answers go to the standard output.
  const int output = dup(STDOUT_FILENO);
  if (output < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return 1;
  const char *problem = engine_load(argv[1]);
  uint8_t *frame;
  size_t size;
  while (receive(STDIN_FILENO, &frame, &size)) {
    reader from = {.at = frame, .left = size};
    writer out = {0};
    const bool good = problem == NULL ? answer(argv[1], &from, &out) : refuse(&out, problem);
    send_answer(output, good ? 0 : 1, &out);
    free(out.bytes);
    free(frame);
  }
  // Without the exit handlers: the engine's threads still run.
  _exit(0);
}
