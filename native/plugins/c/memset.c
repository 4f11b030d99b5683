// SPDX-License-Identifier: MIT OR Apache-2.0
// Fills a buffer. The lab's family "memory" compares the ways to pass the buffer to native code, and a fill that stays in native code.
#include <string.h>

#include "example.h"

/** Fills `size` bytes. Foreign function interfaces call this function directly. The handlers below call it, too. */
CLEARWAY_EXPORT void clearway_example_fill(uint8_t *data, size_t size, int value);

void clearway_example_fill(uint8_t *data, size_t size, int value) {
  if (size > 0) memset(data, value, size);
}

// Handles the method "memset"([bytes, value]), which returns the filled bytes. The bytes are in the message and in the answer.
static clearway_status by_method(void *context, const clearway_content *message, clearway_reply reply) {
  const example *self = context;
  clearway_value memory[8];
  clearway_values values = {.at = memory, .capacity = 8};
  clearway_method_call call;
  const clearway_codec_result read = clearway_read_standard_call(message->data, message->size, NULL, &values, &call);
  if (read.code != CLEARWAY_CODEC_OK)
    return refuse(self, reply, CLEARWAY_INVALID_ARGUMENT, clearway_codec_code_name(read.code));
  if (!clearway_text_is(call.method, "memset")) return CLEARWAY_NOT_IMPLEMENTED;
  const clearway_value *bytes = clearway_element(call.arguments, 0);
  const clearway_value *value = clearway_element(call.arguments, 1);
  if (bytes == NULL || value == NULL || bytes->kind != CLEARWAY_KIND_UINT8_LIST || value->kind != CLEARWAY_KIND_INTEGER)
    return refuse(self, reply, CLEARWAY_INVALID_ARGUMENT, "memset takes [bytes, value]");

  // Measures the whole answer, and writes only its head: the envelope and the list's size. Then fills the list's bytes in place.
  const clearway_envelope success = {.kind = CLEARWAY_ENVELOPE_SUCCESS, .value = bytes};
  clearway_message measured = {0};
  clearway_write_standard_envelope(&measured, NULL, &success);
  clearway_view view;
  const clearway_status status = self->host->allocate(self->id, measured.size, 0, &view);
  if (status != CLEARWAY_OK) return status;
  const size_t head_size = measured.size - bytes->count;
  uint8_t start[16];
  clearway_message written = {.bytes = start, .capacity = head_size};
  clearway_write_standard_envelope(&written, NULL, &success);
  memcpy(view.data, start, head_size);
  clearway_example_fill(view.data + head_size, bytes->count, (int)value->as.integer);
  const clearway_status answered =
      self->host->reply(reply, &(clearway_content){.data = view.data, .size = measured.size, .memory = view.memory});
  self->host->release(view.memory);
  return answered;
}

// Fills memory that both sides see. The message's first byte is the value. Fills the first attachment. Without attachments, fills the
// message itself, in the memory that contains it.
static clearway_status shared(void *context, const clearway_content *message, clearway_reply reply) {
  const example *self = context;
  if (message->size == 0) return refuse(self, reply, CLEARWAY_INVALID_ARGUMENT, "the message's first byte is the value");
  const uint8_t value = message->data[0];
  const clearway_memory memory = message->attachments_count > 0 ? message->attachments[0] : message->memory;
  clearway_view view;
  const clearway_status status = self->host->view(memory, &view);
  if (status != CLEARWAY_OK) return refuse(self, reply, status, "no memory comes with the message");
  if (view.flags & CLEARWAY_MEMORY_SEALED) return refuse(self, reply, CLEARWAY_INVALID_ARGUMENT, "the memory is sealed");
  if (message->attachments_count > 0)
    clearway_example_fill(view.data, view.size, value);
  else
    // The message may be a part of the memory. Writes no bytes outside of the message.
    clearway_example_fill(view.data + (message->data - view.data), message->size, value);
  return reply_null(self, reply);
}

// Fills attached memory that a method's call names by its number: memset([number, value]). The call carries no byte of the memory.
static clearway_status by_number(void *context, const clearway_content *message, clearway_reply reply) {
  const example *self = context;
  clearway_value memory[8];
  clearway_values values = {.at = memory, .capacity = 8};
  clearway_method_call call;
  const clearway_codec_result read = clearway_read_standard_call(message->data, message->size, NULL, &values, &call);
  if (read.code != CLEARWAY_CODEC_OK)
    return refuse(self, reply, CLEARWAY_INVALID_ARGUMENT, clearway_codec_code_name(read.code));
  if (!clearway_text_is(call.method, "memset")) return CLEARWAY_NOT_IMPLEMENTED;
  const clearway_value *number = clearway_element(call.arguments, 0);
  const clearway_value *value = clearway_element(call.arguments, 1);
  if (number == NULL || value == NULL || number->kind != CLEARWAY_KIND_INTEGER || value->kind != CLEARWAY_KIND_INTEGER)
    return refuse(self, reply, CLEARWAY_INVALID_ARGUMENT, "memset takes [number of the attachment, value]");
  if (number->as.integer < 0 || (uint64_t)number->as.integer >= message->attachments_count)
    return refuse(self, reply, CLEARWAY_INVALID_ARGUMENT, "no attachment has this number");
  clearway_view view;
  const clearway_status status = self->host->view(message->attachments[number->as.integer], &view);
  if (status != CLEARWAY_OK) return refuse(self, reply, status, "the attachment is no memory");
  if (view.flags & CLEARWAY_MEMORY_SEALED) return refuse(self, reply, CLEARWAY_INVALID_ARGUMENT, "the memory is sealed");
  clearway_example_fill(view.data, view.size, (int)value->as.integer);
  const clearway_envelope success = {.kind = CLEARWAY_ENVELOPE_SUCCESS, .value = NULL};
  uint8_t bytes[8];
  clearway_message answer = {.bytes = bytes, .capacity = sizeof bytes};
  clearway_write_standard_envelope(&answer, NULL, &success);
  return reply_bytes(self, reply, bytes, answer.size);
}

static bool read_u64(const clearway_content *message, size_t at, uint64_t *value) {
  if (message->size < (at + 1) * sizeof *value) return false;
  memcpy(value, message->data + at * sizeof *value, sizeof *value);
  return true;
}

// The maximum size of the held memory, in bytes: 100 MiB.
enum { HELD_MAX = 100 << 20 };

// Makes `self->held` at least `size` bytes large. The caller must hold `lock`.
static clearway_status hold(example *self, uint64_t size) {
  if (size > HELD_MAX) return CLEARWAY_TOO_LARGE;
  if (self->held.memory.handle != 0 && self->held.size >= size) return CLEARWAY_OK;
  clearway_view view;
  const clearway_status status = self->host->allocate(self->id, (size_t)size, CLEARWAY_MEMORY_ZEROED, &view);
  if (status != CLEARWAY_OK) return status;
  if (self->held.memory.handle != 0) self->host->release(self->held.memory);
  self->held = view;
  return CLEARWAY_OK;
}

// Fills memory that only native code sees. The message is u64 size, u64 value, and optional u64 repetitions (default 1). The answer is
// the total time of all repetitions in nanoseconds, as u64.
static clearway_status held(void *context, const clearway_content *message, clearway_reply reply) {
  example *self = context;
  uint64_t size, value, repetitions = 1;
  if (!read_u64(message, 0, &size) || !read_u64(message, 1, &value))
    return refuse(self, reply, CLEARWAY_INVALID_ARGUMENT, "the message is u64 size, u64 value, u64 repetitions");
  read_u64(message, 2, &repetitions);
  // Holds `lock` during the whole fill, because several threads may call a direct handler.
  pthread_mutex_lock(&self->lock);
  const clearway_status status = hold(self, size);
  uint64_t elapsed_ns = 0;
  if (status == CLEARWAY_OK) {
    const uint64_t start = now_ns();
    for (uint64_t at = 0; at < repetitions; at++) {
      clearway_example_fill(self->held.data, (size_t)size, (int)value);
      // Tells the compiler that the memory is used, so that it keeps every repetition.
      __asm__ volatile("" : : "r"(self->held.data) : "memory");
    }
    elapsed_ns = now_ns() - start;
  }
  pthread_mutex_unlock(&self->lock);
  return status == CLEARWAY_OK ? reply_bytes(self, reply, &elapsed_ns, sizeof elapsed_ns)
                               : refuse(self, reply, status, "no memory of that size is held");
}

clearway_status add_memset(example *self) {
  static const entry entries[] = {
      {CLEARWAY_TEXT("memset/method"), CLEARWAY_RUN_DIRECT, {0}, by_method},
      {CLEARWAY_TEXT("memset/shared"), CLEARWAY_RUN_DIRECT, {0}, shared},
      {CLEARWAY_TEXT("memset/number"), CLEARWAY_RUN_DIRECT, {0}, by_number},
      {CLEARWAY_TEXT("memset/held"), CLEARWAY_RUN_DIRECT, {0}, held},
  };
  return add_handlers(self, entries, sizeof entries / sizeof *entries);
}
