// SPDX-License-Identifier: MIT OR Apache-2.0
// Times the engine's codecs as src/codec/measure.ts times the others: the median of batches, each long enough for the clock. The code is
// compiled already, so the warm-up only fills the caches.
#include "timing.h"

#include <stdlib.h>
#include <time.h>

#include "codec.h"

static const int64_t batch_ns_min = 200000;
static const int64_t warm_up_ns = 30000000;

int64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

typedef struct timed {
  uint8_t codec;
  FlValue *value;
  GBytes *message;
} timed;

typedef bool call(const timed *what, writer *problem);

static bool encode_once(const timed *what, writer *problem) {
  GBytes *bytes = codec_encode(what->codec, what->value, problem);
  if (bytes == NULL) return false;
  g_bytes_unref(bytes);
  return true;
}

static bool decode_once(const timed *what, writer *problem) {
  FlValue *value = codec_decode(what->codec, 0, what->message, problem);
  if (value == NULL) return false;
  fl_value_unref(value);
  return true;
}

/** Returns the time of `count` calls in nanoseconds, or -1 if one failed. */
static int64_t batch_ns(call *one, const timed *what, uint32_t count, writer *problem) {
  const int64_t begin = now_ns();
  for (uint32_t at = 0; at < count; at++)
    if (!one(what, problem)) return -1;
  return now_ns() - begin;
}

static int ascending(const void *a, const void *b) {
  const double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}

/** Returns the nanoseconds of one call, or -1. */
static double per_call_ns(call *one, const timed *what, uint32_t batches, writer *problem) {
  uint32_t count = 1;
  for (const int64_t begin = now_ns(); now_ns() - begin < warm_up_ns;) {
    const int64_t ns = batch_ns(one, what, count, problem);
    if (ns < 0) return -1;
    if (ns < batch_ns_min) count *= 2;
  }
  double *all = malloc(batches * sizeof *all);
  if (all == NULL) return -1;
  for (uint32_t at = 0; at < batches; at++) {
    const int64_t ns = batch_ns(one, what, count, problem);
    if (ns < 0) {
      free(all);
      return -1;
    }
    all[at] = (double)ns / count;
  }
  qsort(all, batches, sizeof *all, ascending);
  const double median = (all[(batches - 1) / 2] + all[batches / 2]) / 2;
  free(all);
  return median;
}

bool time_codec(uint8_t codec, FlValue *value, uint32_t batches, writer *out) {
  timed what = {.codec = codec, .value = value, .message = codec_encode(codec, value, out)};
  if (what.message == NULL) return false;
  const double encode_ns = per_call_ns(encode_once, &what, batches, out);
  const double decode_ns = encode_ns < 0 ? -1 : per_call_ns(decode_once, &what, batches, out);
  if (decode_ns >= 0) {
    size_t size = 0;
    const void *bytes = g_bytes_get_data(what.message, &size);
    write_f64(out, encode_ns);
    write_f64(out, decode_ns);
    write_u32(out, (uint32_t)size);
    write_bytes(out, bytes, size);
  }
  g_bytes_unref(what.message);
  return decode_ns >= 0;
}
