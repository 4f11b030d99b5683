// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests every out-parameter of clearway_host.h, with a capacity of 0, of 1 and of a few.
#include <string.h>

#include "host.h"

static const clearway_memory no_memory = {0};

static void *odd(void *at) {
  return (uint8_t *)at + 1;
}

static void check_open(void) {
  const size_t rooms[] = {0, 1, 2, 16, 300};
  const clearway_options small = {.size = 4};
  for (size_t at = 0; at < sizeof rooms / sizeof *rooms; at++) {
    for (int early = 0; early < 2; early++) {
      clearway_plugin_id *id = edge(sizeof *id);
      char *error = edge(rooms[at]);
      const clearway_status status = clearway_plugin_open(text("no/such"), early ? &small : NULL, id, error, rooms[at]);
      EXPECT(status == (early ? CLEARWAY_INVALID_ARGUMENT : CLEARWAY_LOAD_FAILED));
      EXPECT(edge_untouched(id, sizeof *id));
      EXPECT(rooms[at] == 0 || memchr(error, 0, rooms[at]) != NULL);
      edges_check("open");
    }
  }
}

static void check_numbers(clearway_plugin_id id) {
  clearway_stats *stats = edge(sizeof *stats);
  stats->size = 8;
  EXPECT(clearway_plugin_stats(id, stats) == CLEARWAY_INVALID_ARGUMENT && edge_untouched(&stats->messages, sizeof *stats - 8));
  stats->size = sizeof *stats + 8; // the size in a newer host
  EXPECT(clearway_plugin_stats(id, stats) == CLEARWAY_OK && stats->calls == 0 && stats->size == sizeof *stats);
  EXPECT(clearway_plugin_stats(id, NULL) == CLEARWAY_INVALID_ARGUMENT);
  EXPECT(clearway_plugin_stats(id, odd(edge(sizeof *stats + 8))) == CLEARWAY_INVALID_ARGUMENT);
  clearway_channel *channel = edge(sizeof *channel);
  EXPECT(clearway_channel_find(id, text("echo"), channel) == CLEARWAY_OK);
  EXPECT(clearway_channel_find(id, text("echo"), NULL) == CLEARWAY_INVALID_ARGUMENT);
  clearway_channel *none = edge(sizeof *none);
  EXPECT(clearway_channel_find(id, (clearway_text){0}, none) == CLEARWAY_INVALID_ARGUMENT);
  EXPECT(edge_untouched(none, sizeof *none));
  edges_check("numbers");
}

static void check_memory(void) {
  static uint8_t mine[64];
  clearway_view *view = edge(sizeof *view), *other = edge(sizeof *other), *none = edge(sizeof *none);
  clearway_memory *another = edge(sizeof *another), *no_other = edge(sizeof *no_other);
  EXPECT(clearway_memory_allocate(64, 0, view) == CLEARWAY_OK);
  EXPECT(clearway_memory_allocate(SIZE_MAX, 0, none) == CLEARWAY_TOO_LARGE);
  EXPECT(clearway_memory_allocate(64, 1u << 30, none) == CLEARWAY_INVALID_ARGUMENT);
  EXPECT(clearway_memory_lend(mine, sizeof mine, 0, NULL, NULL, other) == CLEARWAY_OK);
  EXPECT(clearway_memory_lend(NULL, sizeof mine, 0, NULL, NULL, none) == CLEARWAY_INVALID_ARGUMENT);
  EXPECT(clearway_memory_retain(view->memory, another) == CLEARWAY_OK);
  EXPECT(clearway_memory_release(other->memory) == CLEARWAY_OK);
  EXPECT(clearway_memory_view(other->memory, none) == CLEARWAY_STALE);
  EXPECT(clearway_memory_retain(other->memory, no_other) == CLEARWAY_STALE);
  EXPECT(clearway_memory_view(*another, other) == CLEARWAY_OK && other->size == 64);
  EXPECT(clearway_memory_release(*another) == CLEARWAY_OK && clearway_memory_release(view->memory) == CLEARWAY_OK);
  EXPECT(edge_untouched(none, sizeof *none) && edge_untouched(no_other, sizeof *no_other));
  edges_check("memory");
}

static void check_send(clearway_plugin_id id) {
  static const uint8_t bytes[200] = {7};
  clearway_event *answer = edge(sizeof *answer), *none = edge(sizeof *none);
  const clearway_content content = {.data = bytes, .size = sizeof bytes};
  EXPECT(clearway_plugin_send(id, text("echo"), &content, 5, answer) == CLEARWAY_OK);
  EXPECT(answer->tag == 5 && answer->content.size == sizeof bytes && answer->content.attachments == NULL);
  EXPECT(clearway_event_release(answer) == CLEARWAY_OK && clearway_event_release(answer) == CLEARWAY_STALE);
  EXPECT(clearway_plugin_send(id, text("attach"), NULL, 6, answer) == CLEARWAY_OK);
  EXPECT(answer->content.attachments_count == 2 && answer->content.attachments[1].handle != 0);
  EXPECT(clearway_events_release(answer, 1) == CLEARWAY_OK);
  EXPECT(clearway_plugin_send(id, text("no one"), &content, 5, none) == CLEARWAY_NO_HANDLER);
  const clearway_content wrong = {.size = 1};
  EXPECT(clearway_plugin_send(id, text("echo"), &wrong, 5, none) == CLEARWAY_INVALID_ARGUMENT);
  EXPECT(clearway_plugin_send(id, text("echo"), NULL, 5, odd(none)) == CLEARWAY_INVALID_ARGUMENT);
  EXPECT(edge_untouched(none, sizeof *none));
  edges_check("send");
}

static void check_call(clearway_plugin_id id) {
  clearway_channel channel;
  EXPECT(clearway_channel_find(id, text("echo"), &channel) == CLEARWAY_OK);
  for (size_t room = 0; room < 7; room++) {
    uint8_t *into = edge(room);
    clearway_event *answer = edge(sizeof *answer);
    const uint8_t *four = (const uint8_t *)"four";
    EXPECT(clearway_channel_call(channel, four, 4, no_memory, NULL, 0, into, room, answer) == CLEARWAY_OK);
    EXPECT(answer->content.size == 4 && memcmp(answer->content.data, four, 4) == 0);
    EXPECT((answer->content.data == into) == (room >= 4) && (answer->held == 0) == (room >= 4));
    EXPECT(edge_untouched(into + (room >= 4 ? 4 : 0), room - (room >= 4 ? 4 : 0)));
    EXPECT(clearway_event_release(answer) == CLEARWAY_OK);
    edges_check("call");
  }
  clearway_event *none = edge(sizeof *none);
  EXPECT(clearway_channel_call((clearway_channel){channel.handle + 1000}, NULL, 0, no_memory, NULL, 0, NULL, 0, none) == CLEARWAY_STALE);
  EXPECT(clearway_channel_call(channel, NULL, 0, (clearway_memory){1}, NULL, 0, NULL, 0, none) == CLEARWAY_STALE);
  EXPECT(edge_untouched(none, sizeof *none));
  EXPECT(clearway_channel_call(channel, NULL, 0, no_memory, NULL, 0, NULL, 0, NULL) == CLEARWAY_INVALID_ARGUMENT);
  edges_check("call that is refused");
}

static void check_listen(clearway_plugin_id id) {
  clearway_stream *stream = edge(sizeof *stream), *none = edge(sizeof *none);
  const clearway_window window = {.size = sizeof window, .items = 4, .bytes = 64, .credit = 4}, empty = {.size = sizeof empty};
  const clearway_window unknown = {.size = sizeof unknown, .items = 4, .bytes = 64, .when_full = 9}, unsized = {.items = 4, .bytes = 64};
  EXPECT(clearway_plugin_listen(id, text("numbers"), NULL, &window, 1, stream) == CLEARWAY_OK);
  EXPECT(clearway_stream_cancel(id, *stream) == CLEARWAY_OK && clearway_stream_cancel(id, *stream) == CLEARWAY_STALE);
  EXPECT(clearway_plugin_listen(id, text("no one"), NULL, &window, 1, none) == CLEARWAY_NO_HANDLER);
  EXPECT(clearway_plugin_listen(id, text("numbers"), NULL, &empty, 1, none) == CLEARWAY_INVALID_ARGUMENT);
  EXPECT(clearway_plugin_listen(id, text("numbers"), NULL, &unknown, 1, none) == CLEARWAY_INVALID_ARGUMENT);
  EXPECT(clearway_plugin_listen(id, text("numbers"), NULL, &unsized, 1, none) == CLEARWAY_INVALID_ARGUMENT);
  EXPECT(clearway_plugin_listen(id, text("numbers"), NULL, NULL, 1, none) == CLEARWAY_INVALID_ARGUMENT);
  EXPECT(edge_untouched(none, sizeof *none));
  edges_check("listen");
}

// Drains all events into arrays of `room` events.
static void check_drain(clearway_plugin_id id, size_t room) {
  clearway_waiter waiter;
  EXPECT(clearway_waiter_new(&waiter) == CLEARWAY_OK && clearway_waiter_watch(waiter, id) == CLEARWAY_OK);
  const uint8_t lines_and_messages[] = {130, 3}, five = 5;
  const clearway_content say = {.data = lines_and_messages, .size = 2}, count_to = {.data = &five, .size = 1};
  const clearway_window window = {.size = sizeof window, .items = 8, .bytes = 64, .credit = 5};
  clearway_stream stream;
  clearway_event pending;
  unsigned seen[CLEARWAY_EVENT_BACK + 1] = {0};
  EXPECT(clearway_plugin_listen(id, text("numbers"), &count_to, &window, 1, &stream) == CLEARWAY_OK);
  EXPECT(clearway_plugin_send(id, text("echo/pool"), &say, 2, &pending) == CLEARWAY_PENDING);
  EXPECT(clearway_plugin_send(id, text("say"), &say, 3, NULL) == CLEARWAY_OK);
  while (seen[CLEARWAY_EVENT_ANSWER] == 0 || seen[CLEARWAY_EVENT_LOG] < 130) {
    clearway_status status = CLEARWAY_PENDING;
    while (status == CLEARWAY_PENDING) {
      clearway_event *events = edge(room * sizeof *events);
      size_t *count = edge(sizeof *count);
      status = clearway_plugin_drain(id, events, room, count);
      EXPECT((status == CLEARWAY_OK || status == CLEARWAY_PENDING) && *count <= room);
      EXPECT(edge_untouched(events + *count, (room - *count) * sizeof *events));
      for (size_t at = 0; at < *count; at++) {
        EXPECT(events[at].kind <= CLEARWAY_EVENT_BACK && events[at].content.attachments == NULL);
        seen[events[at].kind]++;
      }
      EXPECT(clearway_events_release(events, *count) == CLEARWAY_OK);
      edges_check("drain");
    }
    uint64_t *returned = edge(sizeof *returned);
    size_t *count = edge(sizeof *count);
    if (seen[CLEARWAY_EVENT_ANSWER] == 0)
      EXPECT(clearway_waiter_wait(waiter, UINT32_MAX, returned, 1, count) == CLEARWAY_OK && *count == 0);
    edges_check("wait");
  }
  EXPECT(seen[CLEARWAY_EVENT_LOG] == 130 && seen[CLEARWAY_EVENT_MESSAGE] == 3 && seen[CLEARWAY_EVENT_ITEM] == 5);
  EXPECT(seen[CLEARWAY_EVENT_END] == 1 && seen[CLEARWAY_EVENT_ANSWER] == 1);
  size_t *none = edge(sizeof *none);
  EXPECT(clearway_plugin_drain(id, edge(0), 0, none) == CLEARWAY_INVALID_ARGUMENT);
  EXPECT(clearway_plugin_drain(id, NULL, 1, none) == CLEARWAY_INVALID_ARGUMENT);
  EXPECT(clearway_plugin_drain(id, edge(sizeof(clearway_event)), 1, NULL) == CLEARWAY_INVALID_ARGUMENT);
  EXPECT(edge_untouched(none, sizeof *none));
  edges_check("drain that is refused");
  EXPECT(clearway_plugin_set_wake(id, NULL, NULL) == CLEARWAY_OK && clearway_waiter_free(waiter) == CLEARWAY_OK);
}

static void check_wait(size_t room) {
  static uint8_t mine[64];
  clearway_waiter *made = edge(sizeof *made);
  EXPECT(clearway_waiter_new(made) == CLEARWAY_OK && clearway_waiter_new(NULL) == CLEARWAY_INVALID_ARGUMENT);
  const clearway_waiter waiter = *made;
  for (uint64_t tag = 0; tag < 5; tag++) {
    clearway_view *view = edge(sizeof *view);
    EXPECT(clearway_waiter_lend(waiter, mine, sizeof mine, 0, tag, view) == CLEARWAY_OK);
    EXPECT(clearway_memory_release(view->memory) == CLEARWAY_OK);
  }
  uint64_t tags = 0;
  for (clearway_status status = CLEARWAY_PENDING; status == CLEARWAY_PENDING;) {
    uint64_t *returned = edge(room * sizeof *returned);
    size_t *count = edge(sizeof *count);
    status = clearway_waiter_wait(waiter, UINT32_MAX, returned, room, count);
    EXPECT(*count <= room && edge_untouched(returned + *count, (room - *count) * sizeof *returned));
    for (size_t at = 0; at < *count; at++) EXPECT(returned[at] == tags++);
    EXPECT((status == CLEARWAY_OK) == (tags == 5));
    edges_check("wait");
  }
  EXPECT(tags == 5);
  size_t *none = edge(sizeof *none);
  EXPECT(clearway_waiter_wait(waiter, 0, edge(0), 0, none) == CLEARWAY_INVALID_ARGUMENT);
  EXPECT(edge_untouched(none, sizeof *none));
  EXPECT(clearway_waiter_free(waiter) == CLEARWAY_OK);
  edges_check("waiter");
}

void check_outs(clearway_plugin_id id) {
  check_open();
  check_numbers(id);
  check_memory();
  check_send(id);
  check_call(id);
  check_listen(id);
  for (size_t room = 1; room < 140; room = room < 5 ? room + 1 : room * 3) check_drain(id, room);
  for (size_t room = 1; room < 7; room++) check_wait(room);
}
