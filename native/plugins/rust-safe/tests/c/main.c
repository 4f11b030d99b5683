// SPDX-License-Identifier: MIT OR Apache-2.0
// A host in C. `c_host_of_safe PLUGIN` uses every channel of the plugin `rust-safe`. The exit status is 0 if every check passes.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clearway_host.h"

#define EXPECT(holds) \
  if (!(holds)) (fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #holds), _Exit(1))

// Initialises content with literal bytes of the standard codec. In the literals below, \15 (13) begins a map, \7 a text and \3 an integer.
#define BYTES(literal) {.data = (const uint8_t *)(literal), .size = sizeof(literal) - 1}

static clearway_plugin_id id;
static clearway_waiter waiter;

static clearway_text text(const char *text) {
  return (clearway_text){text, strlen(text)};
}

// Waits for the next event of a kind. Skips log lines. Fails the test if another event arrives.
static clearway_event next(uint32_t kind) {
  for (;;) {
    clearway_event event;
    size_t count;
    const clearway_status status = clearway_plugin_drain(id, &event, 1, &count);
    EXPECT(status == CLEARWAY_OK || status == CLEARWAY_PENDING);
    if (count == 1 && event.kind == kind) return event;
    if (count == 1) {
      EXPECT(event.kind == CLEARWAY_EVENT_LOG && clearway_event_release(&event) == CLEARWAY_OK);
    } else {
      uint64_t returned;
      EXPECT(clearway_waiter_wait(waiter, 60000, &returned, 1, &count) == CLEARWAY_OK);
    }
  }
}

static clearway_event ask(const char *channel, const clearway_content *message) {
  clearway_event answer;
  const clearway_status status = clearway_plugin_send(id, text(channel), message, 5, &answer);
  if (status == CLEARWAY_PENDING) return next(CLEARWAY_EVENT_ANSWER);
  EXPECT(status == CLEARWAY_OK);
  return answer;
}

static bool holds(const clearway_content *content, const char *bytes, size_t size) {
  return content->size == size && memcmp(content->data, bytes, size) == 0;
}

static void expect_answer(const char *channel, const clearway_content *message, const char *bytes, size_t size) {
  clearway_event answer = ask(channel, message);
  EXPECT(answer.status == CLEARWAY_OK && holds(&answer.content, bytes, size));
  EXPECT(clearway_event_release(&answer) == CLEARWAY_OK);
}

static void expect_error(const char *channel, const clearway_content *message, clearway_status status, const char *said) {
  clearway_event answer = ask(channel, message);
  EXPECT(answer.status == status);
  EXPECT(answer.text.size == strlen(said) && memcmp(answer.text.data, said, answer.text.size) == 0);
  EXPECT(clearway_event_release(&answer) == CLEARWAY_OK);
}

static void use_messages(void) {
  const clearway_content abba = BYTES("\15\1\7\4text\7\4abba"), number = BYTES("\15\1\7\4text\3\1\0\0\0");
  const char counted[] = "\15\2\7\5words\3\1\0\0\0\7\7letters\15\2\7\1a\3\2\0\0\0\7\1b\3\2\0\0";
  expect_answer("text/count", &abba, counted, sizeof counted);
  expect_answer("later", &abba, "\7\4ABBA", 6);
  expect_answer("echo", &abba, (const char *)abba.data, abba.size);
  expect_answer("echo", NULL, "", 0);
  expect_error("panics", &abba, CLEARWAY_PANICKED, "abba");
  expect_error("text/count", &number, CLEARWAY_INVALID_ARGUMENT, "invalid type: integer `1`, expected a string");
  expect_error("text/count", NULL, CLEARWAY_INVALID_ARGUMENT, "invalid type: unit value, expected struct Text");
}

static void use_host(void) {
  const clearway_content abba = BYTES("\15\1\7\4text\7\4abba"), said = BYTES("\7\2ok");
  clearway_event pending;
  EXPECT(clearway_plugin_send(id, text("ask"), &abba, 6, &pending) == CLEARWAY_PENDING);
  clearway_event asked = next(CLEARWAY_EVENT_MESSAGE);
  EXPECT(holds(&asked.content, "\7\4abba", 6) && asked.text.size == 4 && memcmp(asked.text.data, "host", 4) == 0);
  const clearway_reply reply = {asked.handle};
  EXPECT(clearway_answer(reply, &said) == CLEARWAY_OK && clearway_answer(reply, &said) == CLEARWAY_STALE);
  EXPECT(clearway_event_release(&asked) == CLEARWAY_OK);
  clearway_event answer = next(CLEARWAY_EVENT_ANSWER);
  EXPECT(answer.tag == 6 && holds(&answer.content, "\7\2ok", 4));
  EXPECT(clearway_event_release(&answer) == CLEARWAY_OK);
}

static void use_images(void) {
  const char two_by_one[] = "\15\2\7\5width\3\2\0\0\0\7\6height\3\1\0\0";
  clearway_view view;
  EXPECT(clearway_memory_allocate(8, CLEARWAY_MEMORY_ZEROED, &view) == CLEARWAY_OK);
  clearway_content message = {.data = (const uint8_t *)two_by_one, .size = sizeof two_by_one};
  expect_error("image/negative", &message, CLEARWAY_INVALID_ARGUMENT, "attach the pixels");
  message.attachments = &view.memory, message.attachments_count = 1;
  expect_answer("image/negative", &message, "", 0);
  EXPECT(memcmp(view.data, "\377\377\377\0\377\377\377", 8) == 0);
  EXPECT(clearway_memory_release(view.memory) == CLEARWAY_OK);
  message.attachments = NULL, message.attachments_count = 0;
  clearway_event answer = ask("image/white", &message);
  EXPECT(answer.status == CLEARWAY_OK && answer.content.attachments_count == 1);
  EXPECT(clearway_memory_view(answer.content.attachments[0], &view) == CLEARWAY_OK && view.size == 8 && view.data[7] == 255);
  EXPECT(clearway_event_release(&answer) == CLEARWAY_OK);
}

static void use_events(void) {
  const clearway_content five = BYTES("\15\1\7\5count\3\5\0\0\0"), wrong = BYTES("\15\0");
  const clearway_window window = {.size = sizeof window, .items = 1, .bytes = 1024, .credit = UINT64_MAX};
  clearway_stream stream;
  EXPECT(clearway_plugin_listen(id, text("ticks"), &five, &window, 7, &stream) == CLEARWAY_OK);
  for (uint8_t number = 0; number < 5; number++) {
    clearway_event event = next(CLEARWAY_EVENT_ITEM);
    EXPECT(event.tag == 7 && event.handle == stream.handle && event.content.size > 14 && event.content.data[11] == number);
    EXPECT(clearway_event_release(&event) == CLEARWAY_OK);
  }
  clearway_event end = next(CLEARWAY_EVENT_END);
  EXPECT(end.status == CLEARWAY_OK && clearway_event_release(&end) == CLEARWAY_OK);
  EXPECT(clearway_plugin_listen(id, text("ticks"), &wrong, &window, 8, &stream) == CLEARWAY_OK);
  end = next(CLEARWAY_EVENT_END);
  EXPECT(end.tag == 8 && end.status == CLEARWAY_INVALID_ARGUMENT && clearway_event_release(&end) == CLEARWAY_OK);
  EXPECT(clearway_plugin_listen(id, text("ticks"), &five, &window, 9, &stream) == CLEARWAY_OK);
  EXPECT(clearway_stream_cancel(id, stream) == CLEARWAY_OK);
}

int main(int count, char **given) {
  char error[200];
  if (count != 2) return fprintf(stderr, "usage: %s PLUGIN\n", given[0]), 2;
  const clearway_status status = clearway_plugin_open(text(given[1]), NULL, &id, error, sizeof error);
  if (status != CLEARWAY_OK) return fprintf(stderr, "%s: status %d: %s\n", given[1], status, error), 1;
  EXPECT(clearway_waiter_new(&waiter) == CLEARWAY_OK && clearway_waiter_watch(waiter, id) == CLEARWAY_OK);
  use_messages();
  use_host();
  use_images();
  use_events();
  EXPECT(clearway_plugin_close(id, 60000) == CLEARWAY_OK);
  clearway_stats stats = {.size = sizeof stats};
  EXPECT(clearway_plugin_stats(id, &stats) == CLEARWAY_OK && stats.calls == 0 && stats.streams == 0 && stats.memories == 0);
  EXPECT(clearway_plugin_free(id) == CLEARWAY_OK && clearway_waiter_free(waiter) == CLEARWAY_OK);
  return 0;
}
