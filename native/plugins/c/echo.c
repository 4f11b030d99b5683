// SPDX-License-Identifier: MIT OR Apache-2.0
// Handlers that echo their message. The lab measures them in its family "channel". "echo" answers with the message itself. Others decode
// it and encode it again, or answer a method's call with its arguments. "echo/back" sends the message to a channel of the host. Each
// handler except "echo/back" exists three times: on the calling thread, on the pool, and on a queue.

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "example.h"

// Answers with the message. The host does not copy a message that is in a memory.
static clearway_status echo(void *context, const clearway_content *message, clearway_reply reply) {
  const example *self = context;
  return self->host->reply(reply, message);
}

// Decodes a message and encodes the answer.
typedef clearway_codec_result transcoder(const clearway_content *message, clearway_values *values, clearway_message *answer);

static clearway_codec_result standard(const clearway_content *message, clearway_values *values, clearway_message *answer) {
  const clearway_value *value;
  // A message without bytes is the value null. The answer is then null, too, and has no bytes.
  if (message->size == 0) return (clearway_codec_result){0};
  const clearway_codec_result read = clearway_read_standard(message->data, message->size, NULL, values, &value);
  return read.code == CLEARWAY_CODEC_OK ? clearway_write_standard(answer, NULL, value) : read;
}

static clearway_codec_result standard_method(const clearway_content *message, clearway_values *values,
                                             clearway_message *answer) {
  clearway_method_call call;
  const clearway_codec_result read = clearway_read_standard_call(message->data, message->size, NULL, values, &call);
  const clearway_envelope success = {.kind = CLEARWAY_ENVELOPE_SUCCESS, .value = call.arguments};
  return read.code == CLEARWAY_CODEC_OK ? clearway_write_standard_envelope(answer, NULL, &success) : read;
}

static clearway_codec_result json_method(const clearway_content *message, clearway_values *values, clearway_message *answer) {
  clearway_method_call call;
  const clearway_codec_result read = clearway_read_json_call(message->data, message->size, NULL, values, &call);
  const clearway_envelope success = {.kind = CLEARWAY_ENVELOPE_SUCCESS, .value = call.arguments};
  return read.code == CLEARWAY_CODEC_OK ? clearway_write_json_envelope(answer, NULL, &success) : read;
}

// The numbers of values and of bytes that a small message may have. For a larger message, `transcode` allocates memory.
enum { VALUES_ON_STACK = 64, BYTES_ON_STACK = 1024 };

static clearway_status transcode(const example *self, const clearway_content *message, clearway_reply reply, transcoder *codec) {
  clearway_value stack_values[VALUES_ON_STACK];
  uint8_t text[BYTES_ON_STACK];
  uint8_t bytes[BYTES_ON_STACK];
  clearway_values values = {.at = stack_values, .capacity = VALUES_ON_STACK, .text = text, .text_capacity = sizeof text};
  clearway_message answer = {.bytes = bytes, .capacity = sizeof bytes};
  clearway_codec_result result = codec(message, &values, &answer);
  void *more_values = NULL;
  uint8_t *large_answer = NULL;
  if (result.code == CLEARWAY_CODEC_NO_ROOM) {
    // A message of n bytes has at most n values. The two further values are a reserve.
    const size_t capacity = message->size + 2;
    more_values = malloc(capacity * sizeof(clearway_value) + message->size);
    if (more_values == NULL) return CLEARWAY_OUT_OF_MEMORY;
    values = (clearway_values){.at = more_values,
                               .capacity = capacity,
                               .text = (uint8_t *)((clearway_value *)more_values + capacity),
                               .text_capacity = message->size};
    answer.size = 0;
    result = codec(message, &values, &answer);
    if (result.code == CLEARWAY_CODEC_NO_ROOM) {
      values.used = values.text_used = 0;
      large_answer = malloc(answer.size);
      if (large_answer == NULL) {
        free(more_values);
        return CLEARWAY_OUT_OF_MEMORY;
      }
      answer = (clearway_message){.bytes = large_answer, .capacity = answer.size};
      result = codec(message, &values, &answer);
    }
  }
  clearway_status status;
  if (result.code != CLEARWAY_CODEC_OK)
    status = refuse(self, reply, CLEARWAY_INVALID_ARGUMENT, clearway_codec_code_name(result.code));
  else
    status = answer.size == 0 ? reply_null(self, reply) : reply_bytes(self, reply, answer.bytes, answer.size);
  free(large_answer);
  free(more_values);
  return status;
}

static clearway_status by_standard(void *context, const clearway_content *message, clearway_reply reply) {
  return transcode(context, message, reply, standard);
}

static clearway_status by_method(void *context, const clearway_content *message, clearway_reply reply) {
  return transcode(context, message, reply, standard_method);
}

static clearway_status by_json(void *context, const clearway_content *message, clearway_reply reply) {
  return transcode(context, message, reply, json_method);
}

/** A message to the host whose answer becomes the answer to `reply`. */
typedef struct pending_answer {
  const example *self;
  clearway_reply reply;
} pending_answer;

static void on_answer(void *context, clearway_status status, const clearway_content *answer) {
  pending_answer *pending = context;
  if (status == CLEARWAY_OK)
    pending->self->host->reply(pending->reply, answer);
  else
    refuse(pending->self, pending->reply, status, "the host did not answer");
  free(pending);
}

// Sends the message to the host's channel "echo/host", and answers with the host's answer.
static clearway_status by_host(void *context, const clearway_content *message, clearway_reply reply) {
  const example *self = context;
  pending_answer *pending = malloc(sizeof *pending);
  if (pending == NULL) return CLEARWAY_OUT_OF_MEMORY;
  *pending = (pending_answer){.self = self, .reply = reply};
  const clearway_text channel = CLEARWAY_TEXT("echo/host");
  const clearway_status status = self->host->send(self->id, channel, message, on_answer, pending);
  if (status != CLEARWAY_OK) free(pending);
  return status;
}

// The entries of one handler: on the calling thread, on the pool, and on the queue "echo".
#define EACH(name, handler)                                                                       \
  {CLEARWAY_TEXT(name), CLEARWAY_RUN_DIRECT, {0}, handler},                                       \
      {CLEARWAY_TEXT(name "/pool"), CLEARWAY_RUN_POOL, {0}, handler},                             \
      {CLEARWAY_TEXT(name "/serial"), CLEARWAY_RUN_SERIAL, CLEARWAY_TEXT("echo"), handler}

clearway_status add_echo(example *self) {
  static const entry entries[] = {
      EACH("echo", echo),
      EACH("echo/standard", by_standard),
      EACH("echo/method", by_method),
      EACH("echo/json", by_json),
      {CLEARWAY_TEXT("echo/back"), CLEARWAY_RUN_DIRECT, {0}, by_host},
  };
  return add_handlers(self, entries, sizeof entries / sizeof *entries);
}

// The handler "image/filter", which runs on the pool. It changes the RGBA pixels of the first attachment in place, in memory that both
// sides see. The message is a standard map {"width": …, "height": …, "filter": "negative" | "grey"}.

static void negative(uint8_t *pixel) {
  for (int channel = 0; channel < 3; channel++) pixel[channel] = (uint8_t)(255 - pixel[channel]);
}

// Computes luma by Rec. 709 with weights of 16 bits. The three weights add up to 65536.
static void grey(uint8_t *pixel) {
  const uint32_t luma = (pixel[0] * 13933u + pixel[1] * 46871u + pixel[2] * 4732u) >> 16;
  memset(pixel, (int)luma, 3);
}

static clearway_status filter(void *context, const clearway_content *message, clearway_reply reply) {
  const example *self = context;
  clearway_value memory[16];
  clearway_values values = {.at = memory, .capacity = 16};
  const clearway_value *given;
  int64_t width, height;
  // Width and height are required: their default, 0, is out of range.
  if (!read_arguments(message, &values, &given) || !argument(given, "width", 1, 1 << 15, 0, &width) ||
      !argument(given, "height", 1, 1 << 15, 0, &height))
    return refuse(self, reply, CLEARWAY_INVALID_ARGUMENT, "width and height are 1 to 32768");
  const clearway_value *name = clearway_find(given, "filter");
  void (*const change)(uint8_t *) = clearway_text_is(name, "negative") ? negative : clearway_text_is(name, "grey") ? grey : NULL;
  if (change == NULL) return refuse(self, reply, CLEARWAY_INVALID_ARGUMENT, "filter is \"negative\" or \"grey\"");
  clearway_view view;
  const clearway_memory pixels = message->attachments_count > 0 ? message->attachments[0] : (clearway_memory){0};
  const clearway_status status = self->host->view(pixels, &view);
  if (status != CLEARWAY_OK) return refuse(self, reply, status, "no pixels come with the message");
  if (view.flags & CLEARWAY_MEMORY_SEALED) return refuse(self, reply, CLEARWAY_INVALID_ARGUMENT, "the pixels are sealed");
  const uint64_t size = (uint64_t)width * (uint64_t)height * 4;
  if (view.size < size) return refuse(self, reply, CLEARWAY_INVALID_ARGUMENT, "there are too few pixels");
  for (uint8_t *pixel = view.data; pixel < view.data + size; pixel += 4) change(pixel);
  return reply_null(self, reply);
}

clearway_status add_image(example *self) {
  static const entry entries[] = {{CLEARWAY_TEXT("image/filter"), CLEARWAY_RUN_POOL, {0}, filter}};
  return add_handlers(self, entries, 1);
}

// The handler "block". It sleeps for the number of milliseconds in the message (u32). It runs on its own queue, because it blocks. If the
// caller has given the call up before the handler begins, the handler does not sleep.

static clearway_status sleep_for(void *context, const clearway_content *message, clearway_reply reply) {
  const example *self = context;
  uint32_t ms;
  if (message->size != sizeof ms) return refuse(self, reply, CLEARWAY_INVALID_ARGUMENT, "the message is u32 milliseconds");
  memcpy(&ms, message->data, sizeof ms);
  struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
  // A signal ends `nanosleep` early. The loop then sleeps for the rest of the time.
  if (self->host->wanted(reply) == CLEARWAY_OK) {
    while (nanosleep(&left, &left) != 0) continue;
  }
  return reply_null(self, reply);
}

clearway_status add_block(example *self) {
  static const entry entries[] = {{CLEARWAY_TEXT("block"), CLEARWAY_RUN_SERIAL, CLEARWAY_TEXT("block"), sleep_for}};
  return add_handlers(self, entries, 1);
}
