// SPDX-License-Identifier: MIT OR Apache-2.0
// Calls the functions of clearway_host.h from every place where a host's code can run.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "host.h"
#include "shared.h"

/** The place where a check runs, or the plugin's state at that time. */
typedef enum where { ANYWHERE, IN_CALLBACK, IN_WAKE, CLOSED, FREED } where;

/** The subject of the checks: a plugin, and another plugin that is open. */
typedef struct pair {
  clearway_plugin_id id, other;
  where where;
  atomic_int runs;
} pair;

static const clearway_memory none = {0};

static clearway_status one_of(where where, clearway_status open, clearway_status closed) {
  return where == FREED ? CLEARWAY_STALE : where == CLOSED ? closed : open;
}

static void use_messages(const pair *of) {
  const where where = of->where;
  clearway_event answer = {0};
  EXPECT(clearway_plugin_send(of->id, text("echo"), NULL, 1, &answer) == one_of(where, CLEARWAY_OK, CLEARWAY_CLOSED));
  EXPECT(clearway_event_release(&answer) == CLEARWAY_OK);
  clearway_channel channel = {0};
  EXPECT(clearway_channel_find(of->id, text("echo"), &channel) == one_of(where, CLEARWAY_OK, CLEARWAY_OK));
  EXPECT(clearway_channel_call(channel, NULL, 0, none, NULL, 0, NULL, 0, &answer) == one_of(where, CLEARWAY_OK, CLEARWAY_CLOSED));
  const clearway_status sent = clearway_plugin_send(of->id, text("never"), NULL, 2, &answer);
  // CLEARWAY_OK: the limit of calls in flight is reached. The answer then has the status CLEARWAY_FULL.
  EXPECT(sent == one_of(where, CLEARWAY_PENDING, CLEARWAY_CLOSED) || (where < CLOSED && sent == CLEARWAY_OK));
  if (sent == CLEARWAY_PENDING) {
    EXPECT(clearway_call_give_up(of->other, answer.handle) == CLEARWAY_STALE);
    EXPECT(clearway_call_give_up(of->id, answer.handle) == CLEARWAY_OK);
  } else {
    EXPECT(clearway_event_release(&answer) == CLEARWAY_OK);
  }
  EXPECT(clearway_call_give_up(of->id, 1) == CLEARWAY_STALE);
  EXPECT(clearway_answer((clearway_reply){1}, NULL) == CLEARWAY_STALE && clearway_answer((clearway_reply){0}, NULL) == CLEARWAY_OK);
  EXPECT(clearway_answer_error((clearway_reply){1}, CLEARWAY_FAILED, text("x")) == CLEARWAY_STALE);
}

static void use_streams(const pair *of) {
  const clearway_window window = {.size = sizeof window, .items = 4, .bytes = 64, .credit = 1};
  clearway_stream stream = {0};
  const clearway_status listened = clearway_plugin_listen(of->id, text("numbers"), NULL, &window, 3, &stream);
  EXPECT(listened == one_of(of->where, CLEARWAY_OK, CLEARWAY_CLOSED) || (of->where < CLOSED && listened == CLEARWAY_FULL));
  // A stream belongs to one plugin.
  EXPECT(clearway_stream_credit(of->other, stream, 1) == CLEARWAY_STALE);
  EXPECT(clearway_stream_cancel(of->other, stream) == CLEARWAY_STALE);
  const clearway_status status = listened == CLEARWAY_OK ? CLEARWAY_OK : CLEARWAY_STALE;
  EXPECT(clearway_stream_credit(of->id, stream, 1) == status && clearway_stream_cancel(of->id, stream) == status);
}

static void use_memory(void) {
  static uint8_t mine[8];
  clearway_view view, lent;
  clearway_memory another;
  EXPECT(clearway_memory_allocate(5000, CLEARWAY_MEMORY_ZEROED, &view) == CLEARWAY_OK && view.data[4999] == 0);
  EXPECT(clearway_memory_retain(view.memory, &another) == CLEARWAY_OK && clearway_memory_seal(another) == CLEARWAY_OK);
  EXPECT(clearway_memory_release(view.memory) == CLEARWAY_OK && clearway_memory_view(another, &view) == CLEARWAY_OK);
  EXPECT(clearway_memory_release(another) == CLEARWAY_OK && clearway_memory_release(another) == CLEARWAY_STALE);
  EXPECT(clearway_memory_lend(mine, sizeof mine, 0, NULL, NULL, &lent) == CLEARWAY_OK);
  EXPECT(clearway_memory_release(lent.memory) == CLEARWAY_OK);
}

static void use_waiter(const pair *of) {
  static uint8_t mine[8];
  clearway_waiter waiter;
  clearway_view view;
  uint64_t tag = 0;
  size_t count = 9;
  EXPECT(clearway_waiter_new(&waiter) == CLEARWAY_OK);
  const clearway_status watched = clearway_waiter_watch(waiter, of->id);
  EXPECT(watched == (of->where == IN_WAKE ? CLEARWAY_INVALID_ARGUMENT : one_of(of->where, CLEARWAY_OK, CLEARWAY_OK)));
  EXPECT(clearway_waiter_lend(waiter, mine, sizeof mine, 0, 77, &view) == CLEARWAY_OK);
  EXPECT(clearway_memory_release(view.memory) == CLEARWAY_OK && clearway_waiter_wake(waiter) == CLEARWAY_OK);
  EXPECT(clearway_waiter_wait(waiter, UINT32_MAX, &tag, 1, &count) == CLEARWAY_OK && count == 1 && tag == 77);
  EXPECT(clearway_plugin_set_wake(of->id, NULL, NULL) == watched);
  EXPECT(clearway_waiter_free(waiter) == CLEARWAY_OK && clearway_waiter_free(waiter) == CLEARWAY_STALE);
}

static void use_all(const pair *of) {
  clearway_stats stats = {.size = sizeof stats};
  EXPECT(clearway_plugin_stats(of->id, &stats) == one_of(of->where, CLEARWAY_OK, CLEARWAY_OK));
  use_messages(of);
  use_streams(of);
  use_memory();
  use_waiter(of);
  clearway_event *events = edge(2 * sizeof *events);
  size_t *count = edge(sizeof *count);
  const clearway_status drained = clearway_plugin_drain(of->id, events, 2, count);
  EXPECT(of->where == FREED ? drained == CLEARWAY_STALE && *count == 0 : drained <= CLEARWAY_PENDING && *count <= 2);
  EXPECT(clearway_events_release(events, *count) == CLEARWAY_OK);
  clearway_plugin_id *none = edge(sizeof *none);
  EXPECT(clearway_plugin_open(text("no/such"), NULL, none, NULL, 0) == CLEARWAY_LOAD_FAILED);
  EXPECT(edge_untouched(none, sizeof *none));
  edges_check("all");
  if (of->where == IN_CALLBACK || of->where == IN_WAKE) {
    EXPECT(clearway_plugin_close(of->id, 10) == CLEARWAY_INVALID_ARGUMENT);
    EXPECT(clearway_plugin_close(of->other, 10) == CLEARWAY_INVALID_ARGUMENT);
    EXPECT(clearway_plugin_free(of->id) == CLEARWAY_INVALID_ARGUMENT);
  }
}

static void run(void *context) {
  pair *of = context;
  use_all(of);
  atomic_fetch_add(&of->runs, 1);
}

static void *run_as_thread(void *context) {
  for (int round = 0; round < 20; round++) run(context);
  return NULL;
}

// A wake that calls every function. The calls may wake again; a nested wake does nothing.
static void wake(void *context) {
  static _Thread_local bool inside;
  if (inside) return;
  inside = true;
  run(context);
  inside = false;
}

static void in_handlers(clearway_plugin_id id, clearway_plugin_id other) {
  pair of = {.id = id, .other = other, .where = IN_CALLBACK};
  const host_task asked = {run, &of};
  const clearway_content content = {.data = (const uint8_t *)&asked, .size = sizeof asked};
  const char *channels[] = {"run", "run/pool", "run/serial"};
  for (int at = 0; at < 3; at++) {
    EXPECT(clearway_plugin_send(id, text(channels[at]), &content, 4, NULL) == CLEARWAY_OK);
    while (atomic_load(&of.runs) <= at) sched_yield();
  }
  clearway_channel channel;
  clearway_event answer;
  EXPECT(clearway_channel_find(id, text("run"), &channel) == CLEARWAY_OK);
  EXPECT(clearway_channel_call(channel, content.data, content.size, none, NULL, 0, NULL, 0, &answer) == CLEARWAY_OK);
  EXPECT(atomic_load(&of.runs) == 4);
}

static void in_a_wake(clearway_plugin_id id, clearway_plugin_id other) {
  pair of = {.id = id, .other = other, .where = IN_WAKE};
  clearway_event events[64];
  size_t count;
  while (clearway_plugin_drain(id, events, 64, &count) == CLEARWAY_PENDING)
    EXPECT(clearway_events_release(events, count) == CLEARWAY_OK);
  EXPECT(clearway_plugin_set_wake(id, wake, &of) == CLEARWAY_OK);
  const uint8_t one_line[] = {1, 0};
  EXPECT(clearway_plugin_send(id, text("say"), &(clearway_content){.data = one_line, .size = 2}, 5, NULL) == CLEARWAY_OK);
  EXPECT(clearway_plugin_set_wake(id, NULL, NULL) == CLEARWAY_OK);
  EXPECT(atomic_load(&of.runs) >= 1);
}

static void on_threads(clearway_plugin_id id, clearway_plugin_id other) {
  pair pairs[4] = {{.id = id, .other = other}, {.id = other, .other = id}, {.id = id, .other = other}, {.id = other, .other = id}};
  pthread_t threads[4];
  for (int at = 0; at < 4; at++) EXPECT(pthread_create(&threads[at], NULL, run_as_thread, &pairs[at]) == 0);
  for (int at = 0; at < 4; at++) EXPECT(pthread_join(threads[at], NULL) == 0);
}

static void after_the_end(clearway_plugin_id id, clearway_plugin_id other) {
  pair of = {.id = id, .other = other, .where = CLOSED};
  EXPECT(clearway_plugin_close(id, UINT32_MAX) == CLEARWAY_OK);
  use_all(&of);
  EXPECT(clearway_plugin_close(id, 0) == CLEARWAY_OK && clearway_plugin_free(id) == CLEARWAY_OK);
  of.where = FREED;
  use_all(&of);
  EXPECT(clearway_plugin_close(id, 0) == CLEARWAY_STALE && clearway_plugin_free(id) == CLEARWAY_STALE);
}

void check_contexts(clearway_plugin_id one, clearway_plugin_id other) {
  pair of = {.id = one, .other = other};
  use_all(&of);
  in_handlers(one, other);
  in_handlers(other, one);
  in_a_wake(one, other);
  in_a_wake(other, one);
  on_threads(one, other);
  after_the_end(one, other);
  after_the_end(other, one);
}
