// SPDX-License-Identifier: MIT OR Apache-2.0
// `plugin-check LIBRARY ...` checks that each library behaves as native/plugins/README.md describes. The exit status is 1 if a check
// fails.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static unsigned failures;
static const char *library;

static void expect(bool holds, const char *what) {
  if (holds) return;
  // Prints only the first 20 errors, because each of a hundred frames may have several.
  if (failures++ < 20) fprintf(stderr, "%s: %s\n", library, what);
}

static const clearway_memory none = {0};

static bool is(answer given, const void *bytes, size_t size) {
  return given.answered && given.status == CLEARWAY_OK && given.size == size && (size == 0 || memcmp(given.data, bytes, size) == 0);
}

static void check_memset(void) {
  // The call memset([bytes 1 2 3, 7]).
  static const uint8_t call[] = "\x07\x06memset\x0c\x02\x08\x03\x01\x02\x03\x03\x07\0\0\0";
  expect(is(host_send("memset/method", call, sizeof call - 1, none, none), "\0\x08\x03\x07\x07\x07", 6), "memset/method gives bytes");
  expect(host_send("memset/method", call, 9, none, none).status == CLEARWAY_INVALID_ARGUMENT, "memset/method refuses half a call");
  uint8_t *data;
  const clearway_memory memory = host_memory(4096, &data);
  expect(is(host_send("memset/shared", "\x2a", 1, none, memory), NULL, 0) && data[0] == 42 && data[4095] == 42,
         "memset/shared fills an attachment");
  data[10] = 9;
  expect(is(host_send("memset/shared", data + 10, 20, memory, none), NULL, 0) && data[9] == 42 && data[10] == 9 &&
             data[29] == 9 && data[30] == 42,
         "memset/shared fills a message where it stands");
  expect(host_send("memset/shared", "\x2a", 1, none, none).status != CLEARWAY_OK, "memset/shared refuses a message without memory");
  host_release(memory);
  const uint64_t held[] = {65536, 5, 3};
  const answer took = host_send("memset/held", held, sizeof held, none, none);
  expect(took.status == CLEARWAY_OK && took.size == 8, "memset/held tells how long it took");
  const uint64_t huge[] = {UINT64_MAX, 5, 3};
  expect(host_send("memset/held", huge, sizeof huge, none, none).status == CLEARWAY_TOO_LARGE, "memset/held refuses what is too large");
}

static void check_echo(void) {
  static const char *const names[] = {"echo", "echo/pool", "echo/serial", "echo/standard", "echo/back"};
  static const uint8_t value[] = "\x0c\x02\x07\x01" "a\x0d\x01\0\x01";
  for (size_t at = 0; at < sizeof names / sizeof *names; at++) {
    expect(is(host_send(names[at], value, sizeof value - 1, none, none), value, sizeof value - 1), names[at]);
    expect(is(host_send(names[at], NULL, 0, none, none), NULL, 0), names[at]);
  }
  uint8_t *data;
  const clearway_memory memory = host_memory(1 << 20, &data);
  expect(host_send("echo", data, 1 << 20, memory, none).memory.handle == memory.handle, "echo gives the very memory back");
  host_release(memory);
  expect(is(host_send("echo/method", "\x07\x01m\0", 4, none, none), "\0\0", 2), "echo/method");
  static const char json[] = "{\"method\":\"m\",\"args\":[1,\"\\u00e9\"]}";
  expect(is(host_send("echo/json", json, sizeof json - 1, none, none), "[[1,\"\xc3\xa9\"]]", 10), "echo/json");
  expect(host_send("echo/method", "\x0f", 1, none, none).status == CLEARWAY_INVALID_ARGUMENT, "echo/method refuses what is no call");
  expect(host_send("echo/standard", "\x0f", 1, none, none).status == CLEARWAY_INVALID_ARGUMENT, "echo/standard refuses what is no value");
  // The message has more values than fit into the plugin's array on the stack.
  uint8_t many[3005] = {0x0c, 0xfe, 3001 & 255, 3001 >> 8};
  expect(is(host_send("echo/standard", many, sizeof many, none, none), many, sizeof many), "echo/standard of three thousand nulls");
}

static void check_sensor(void) {
  // The map {"rate": 0, "count": 1000}.
  static const uint8_t arguments[] = "\x0d\x02\x07\x04rate\x03\0\0\0\0\x07\x05" "count\x03\xe8\x03\0\0";
  expect(host_listen("sensor", arguments, sizeof arguments - 1, 16) == CLEARWAY_OK, "sensor takes its arguments");
  uint64_t reading[3];
  size_t size;
  uint64_t count = 0;
  while (host_next(reading, sizeof reading, &size)) {
    expect(size == 24 && reading[0] == count, "sensor loses nothing where there is no room");
    count++;
  }
  expect(count == 1000, "sensor ends after as many as it was asked for");
  expect(host_listen("sensor", "\x07", 1, 16) == CLEARWAY_INVALID_ARGUMENT, "sensor refuses what is no map");
  expect(host_listen("sensor", NULL, 0, 16) == CLEARWAY_OK && host_next(reading, sizeof reading, &size), "sensor has defaults");
  host_cancel();
}

static void check_frames(void) {
  // The map {"width": 64, "height": 48, "rate": 0}.
  static const uint8_t arguments[] = "\x0d\x03\x07\x05width\x03\x40\0\0\0\x07\x06height\x03\x30\0\0\0\x07\x04rate\x03\0\0\0\0";
  const uint32_t moved[] = {5, 30, 20, 1};
  expect(is(host_send("frames/pointer", moved, sizeof moved, none, none), NULL, 0), "frames/pointer takes 16 bytes");
  expect(host_send("frames/pointer", moved, 15, none, none).status == CLEARWAY_INVALID_ARGUMENT, "frames/pointer refuses 15");
  expect(host_listen("frames", arguments, sizeof arguments - 1, 4) == CLEARWAY_OK, "frames takes its arguments");
  static uint32_t pixels[64 * 48];
  size_t size;
  for (uint32_t frame = 0; frame < 100; frame++) {
    expect(host_next(pixels, sizeof pixels, &size) && size == sizeof pixels, "a frame has all its pixels");
    expect(pixels[0] == 0x31464c43 && pixels[1] == frame, "frames are stamped with their number");
    expect(memcmp(pixels + 2, moved, sizeof moved) == 0, "frames are stamped with the pointer");
    expect(pixels[20 * 64 + 30] == 0xff0000ffu, "the pointer is drawn");
    // In a row without the cross, only the bar is white. If a slab kept an older bar, the row would have more white pixels.
    unsigned white = 0;
    for (unsigned x = 0; x < 64; x++) white += pixels[40 * 64 + x] == 0xfff0f0f0u;
    expect(white == 4, "the bar is drawn once");
  }
  host_cancel();
  expect(host_listen("frames", "\x0d\x01\x07\x05width\x03\0\0\0\0", 14, 4) == CLEARWAY_INVALID_ARGUMENT, "frames refuses no width");
}

static void check_image(void) {
  static const uint8_t negative[] = "\x0d\x03\x07\x05width\x03\x02\0\0\0\x07\x06height\x03\x01\0\0\0\x07\x06" "filter\x07\x08negative";
  static const uint8_t grey[] = "\x0d\x03\x07\x05width\x03\x02\0\0\0\x07\x06height\x03\x01\0\0\0\x07\x06" "filter\x07\x04grey";
  uint8_t *pixels;
  const clearway_memory memory = host_memory(8, &pixels);
  memcpy(pixels, "\x00\x10\xff\x80\xff\xff\xff\xff", 8);
  expect(is(host_send("image/filter", negative, sizeof negative - 1, none, memory), NULL, 0) &&
             memcmp(pixels, "\xff\xef\x00\x80\x00\x00\x00\xff", 8) == 0,
         "image/filter makes a negative and keeps alpha");
  expect(is(host_send("image/filter", grey, sizeof grey - 1, none, memory), NULL, 0) &&
             memcmp(pixels, "\xe1\xe1\xe1\x80\x00\x00\x00\xff", 8) == 0,
         "image/filter makes grey");
  host_release(memory);
  const clearway_memory small = host_memory(7, &pixels);
  expect(host_send("image/filter", grey, sizeof grey - 1, none, small).status == CLEARWAY_INVALID_ARGUMENT,
         "image/filter refuses too few pixels");
  host_release(small);
  expect(host_send("image/filter", grey, sizeof grey - 1, none, none).status != CLEARWAY_OK, "image/filter refuses no pixels");
}

static void check_misbehaving(void) {
  const answer lengths = host_send("garbage/length", NULL, 0, none, none);
  int32_t statuses[8];
  memcpy(statuses, lengths.data, lengths.size < sizeof statuses ? lengths.size : sizeof statuses);
  for (int at = 1; at < 5; at++) expect(statuses[at] == CLEARWAY_INVALID_ARGUMENT, "garbage/length is refused");
  const answer memory = host_send("garbage/memory", NULL, 0, none, none);
  memcpy(statuses, memory.data, memory.size < sizeof statuses ? memory.size : sizeof statuses);
  expect(statuses[3] == CLEARWAY_OK && statuses[4] == CLEARWAY_STALE && statuses[7] != CLEARWAY_OK, "garbage/memory is refused");
  expect(host_send("garbage/null", NULL, 0, none, none).status == CLEARWAY_OK, "garbage/null is refused");
  expect(host_send("garbage/status", NULL, 0, none, none).status == -559038737, "garbage/status reaches the host");
  if (host_has("panic")) expect(host_send("panic", NULL, 0, none, none).status == CLEARWAY_PANICKED, "a panic is a status");
  expect(is(host_send("reply/twice", "a", 1, none, none), "a", 1), "the first answer counts");
  expect(!host_send("reply/never", NULL, 0, none, none).answered, "reply/never does not answer");
  host_send("reply/thread", NULL, 0, none, none);
  expect(is(host_wait(), NULL, 0), "an answer from a thread arrives");
  char text[4];
  size_t size;
  expect(host_listen("events/after-end", NULL, 0, 4) == CLEARWAY_OK && host_next(text, 4, &size) && size == 4, "an event before the end");
  expect(!host_next(text, 4, &size), "no event after the end");
}

int main(int count, char **paths) {
  for (int at = 1; at < count; at++) {
    library = paths[at];
    host_open(library);
    if (host_has("garbage/status")) {
      check_misbehaving();
    } else {
      check_memset();
      check_echo();
      check_sensor();
      check_frames();
      check_image();
      expect(is(host_send("block", "\x01\0\0\0", 4, none, none), NULL, 0), "block answers");
      expect(host_send("block", "", 1, none, none).status == CLEARWAY_INVALID_ARGUMENT, "block refuses what is no time");
    }
    host_close();
    expect(host_references() == 0, "all memory was released");
    printf("%s: checked\n", library);
  }
  return failures > 0;
}
