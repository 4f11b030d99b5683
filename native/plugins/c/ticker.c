// SPDX-License-Identifier: MIT OR Apache-2.0
#include "example.h"

#include <stdlib.h>
#include <time.h>

struct ticker {
  example *owner;
  ticker *next;
  clearway_stream stream;
  tick_source source;
  pthread_t thread;
  pthread_cond_t wake;
  bool cancelled;
  bool has_room;
  /** Set when the thread has nothing left to do but return. Another thread may then join it. */
  bool finished;
};

// Waits until the time `until_ns`, or without limit if it is 0. Returns early if the stream is cancelled and, with `for_room`, if the
// stream has room. The caller must hold `lock`.
static void wait_until(ticker *self, uint64_t until_ns, bool for_room) {
  const struct timespec until = {.tv_sec = (time_t)(until_ns / 1000000000u), .tv_nsec = (long)(until_ns % 1000000000u)};
  while (!self->cancelled && !(for_room && self->has_room)) {
    if (until_ns == 0)
      pthread_cond_wait(&self->wake, &self->owner->lock);
    else if (pthread_cond_timedwait(&self->wake, &self->owner->lock, &until) != 0)
      return;
  }
}

// Waits for the time of the next event. Returns false if the stream was cancelled.
static bool wait_for_time(ticker *self, uint64_t due_ns) {
  pthread_mutex_lock(&self->owner->lock);
  if (due_ns > now_ns()) wait_until(self, due_ns, false);
  const bool not_cancelled = !self->cancelled;
  pthread_mutex_unlock(&self->owner->lock);
  return not_cancelled;
}

// Emits an event. If the stream is full, waits for room and tries again.
static clearway_status emit(ticker *self, uint64_t number) {
  for (bool is_retry = false;; is_retry = true) {
    pthread_mutex_lock(&self->owner->lock);
    self->has_room = false;
    pthread_mutex_unlock(&self->owner->lock);
    const clearway_status status = self->source.emit(self->source.state, self->stream, number, is_retry);
    if (status != CLEARWAY_FULL) return status;
    pthread_mutex_lock(&self->owner->lock);
    // If `on_room` ran before this thread took the lock, `has_room` is set and `wait_until` returns at once.
    wait_until(self, 0, true);
    const bool cancelled = self->cancelled;
    pthread_mutex_unlock(&self->owner->lock);
    if (cancelled) return CLEARWAY_CANCELLED;
  }
}

static void *run(void *context) {
  ticker *self = context;
  const clearway_host *host = self->owner->host;
  const tick_source *source = &self->source;
  const uint64_t start = now_ns();
  const uint64_t period = source->rate == 0 ? 0 : 1000000000u / source->rate;
  clearway_status status = CLEARWAY_OK;
  uint64_t tick = 0;
  for (uint64_t number = 0; source->count == 0 || number < source->count; number++, tick++) {
    if (period > 0) {
      const uint64_t late = now_ns() - start;
      if (!source->catches_up && late / period > tick) tick = late / period;
      if (!wait_for_time(self, start + tick * period)) status = CLEARWAY_CANCELLED;
    }
    if (status == CLEARWAY_OK) status = emit(self, number);
    if (status != CLEARWAY_OK) break;
  }
  if (status == CLEARWAY_OK) host->end(self->stream);
  // After these statuses, the stream needs no error: it was ended above, it was cancelled, or the host has ended it.
  const bool needs_no_error = status == CLEARWAY_OK || status == CLEARWAY_CANCELLED || status == CLEARWAY_STALE ||
                              status == CLEARWAY_CLOSED || status == CLEARWAY_OVERFLOW;
  if (!needs_no_error) host->end_error(self->stream, status, (clearway_text)CLEARWAY_TEXT("an event could not be emitted"));
  source->drop(source->state);
  pthread_mutex_lock(&self->owner->lock);
  self->finished = true;
  pthread_mutex_unlock(&self->owner->lock);
  return NULL;
}

static void join(ticker *self) {
  pthread_join(self->thread, NULL);
  pthread_cond_destroy(&self->wake);
  free(self);
}

// Removes a finished ticker from the list and returns it. With `also_running`, removes any ticker. Returns null if there is none. The
// caller must hold `lock`.
static ticker *take(example *owner, bool also_running) {
  for (ticker **at = &owner->tickers; *at != NULL; at = &(*at)->next) {
    ticker *found = *at;
    if (!found->finished && !also_running) continue;
    *at = found->next;
    return found;
  }
  return NULL;
}

// Joins the threads of finished tickers. With `all`, cancels and joins all tickers.
static void stop(example *owner, bool all) {
  for (;;) {
    pthread_mutex_lock(&owner->lock);
    ticker *each = take(owner, all);
    if (each != NULL) {
      each->cancelled = true;
      pthread_cond_signal(&each->wake);
    }
    pthread_mutex_unlock(&owner->lock);
    if (each == NULL) return;
    join(each);
  }
}

void stop_tickers(example *self) { stop(self, true); }

clearway_status start_ticker(example *owner, clearway_stream stream, const tick_source *source) {
  stop(owner, false);
  ticker *self = calloc(1, sizeof *self);
  if (self == NULL) {
    source->drop(source->state);
    return CLEARWAY_OUT_OF_MEMORY;
  }
  self->owner = owner;
  self->stream = stream;
  self->source = *source;
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&self->wake, &monotonic);
  pthread_condattr_destroy(&monotonic);
  pthread_mutex_lock(&owner->lock);
  const bool started = pthread_create(&self->thread, NULL, run, self) == 0;
  if (started) {
    self->next = owner->tickers;
    owner->tickers = self;
  }
  pthread_mutex_unlock(&owner->lock);
  if (started) return CLEARWAY_OK;
  pthread_cond_destroy(&self->wake);
  source->drop(source->state);
  free(self);
  return CLEARWAY_OUT_OF_MEMORY;
}

// Marks the ticker of a stream as cancelled, or its stream as having room. Wakes its thread.
static void update_ticker(example *owner, clearway_stream stream, bool cancelled) {
  pthread_mutex_lock(&owner->lock);
  for (ticker *each = owner->tickers; each != NULL; each = each->next) {
    if (each->stream.handle != stream.handle) continue;
    if (cancelled)
      each->cancelled = true;
    else
      each->has_room = true;
    pthread_cond_signal(&each->wake);
  }
  pthread_mutex_unlock(&owner->lock);
}

void ticker_cancelled(void *context, clearway_stream stream) { update_ticker(context, stream, true); }

void ticker_has_room(void *context, clearway_stream stream) { update_ticker(context, stream, false); }

bool argument(const clearway_value *arguments, const char *key, int64_t min, int64_t max, int64_t default_value, int64_t *value) {
  const clearway_value *given = clearway_find(arguments, key);
  const bool is_there = given != NULL && given->kind != CLEARWAY_KIND_NULL;
  if (is_there && given->kind != CLEARWAY_KIND_INTEGER) return false;
  *value = is_there ? given->as.integer : default_value;
  return *value >= min && *value <= max;
}

bool read_arguments(const clearway_content *content, clearway_values *values, const clearway_value **arguments) {
  *arguments = NULL;
  if (content == NULL || content->size == 0) return true;
  const clearway_codec_result read = clearway_read_standard(content->data, content->size, NULL, values, arguments);
  if (read.code != CLEARWAY_CODEC_OK) return false;
  return (*arguments)->kind == CLEARWAY_KIND_MAP || (*arguments)->kind == CLEARWAY_KIND_NULL;
}
