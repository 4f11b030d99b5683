// SPDX-License-Identifier: MIT OR Apache-2.0
// `plugin-steps` takes the steps of test/plugin-hosts/README.md from stdin, and prints the answer to each.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

enum { BYTES = 1 << 16, WORDS = 8 };

static const clearway_memory none = {0};

typedef struct payload {
  const uint8_t *data;
  size_t size;
} payload;

static unsigned nibble(char digit) { return (unsigned)(digit <= '9' ? digit - '0' : digit - 'a' + 10); }

// Reads `null` or `x` and hex digits into `bytes`. The payload of `null` has no address.
static payload read_payload(const char *word, uint8_t bytes[BYTES]) {
  if (strcmp(word, "null") == 0) return (payload){0};
  size_t size = 0;
  for (word++; word[0] != 0 && word[1] != 0 && size < BYTES; word += 2)
    bytes[size++] = (uint8_t)(nibble(word[0]) << 4 | nibble(word[1]));
  return (payload){bytes, size};
}

static void print_payload(payload given) {
  if (given.data == NULL && given.size == 0) {
    printf("null");
    return;
  }
  putchar('x');
  for (size_t at = 0; at < given.size; at++) printf("%02x", given.data[at]);
}

static const char *code_of(clearway_status status) {
  switch (status) {
    case CLEARWAY_INVALID_ARGUMENT:
    case CLEARWAY_ALREADY_EXISTS: return "invalid-argument";
    case CLEARWAY_STALE: return "released";
    case CLEARWAY_OUT_OF_MEMORY: return "out-of-memory";
    case CLEARWAY_TOO_LARGE: return "too-large";
    case CLEARWAY_FULL: return "full";
    case CLEARWAY_CLOSED: return "closed";
    case CLEARWAY_NO_HANDLER: return "no-handler";
    case CLEARWAY_PANICKED: return "panicked";
    case CLEARWAY_NOT_IMPLEMENTED: return "not-implemented";
    case CLEARWAY_FAILED: return "failed";
    default: return status >= 1000 ? "failed" : "bad-answer";
  }
}

static answer send_and_wait(const char *channel, payload message, clearway_memory memory, clearway_memory attachment) {
  const answer given = host_send(channel, message.data, message.size, memory, attachment);
  return given.answered ? given : host_wait();
}

static bool print_answer(answer given) {
  const bool succeeded = given.status == CLEARWAY_OK;
  static const uint8_t empty;
  if (succeeded)
    print_payload((payload){given.size == 0 && !given.is_null ? &empty : given.data, given.size});
  else
    printf("error %s", code_of(given.status));
  return succeeded;
}

// Sends with a memory that is the message or, with `attached`, is attached to it. Prints the answer and the memory's bytes.
static void send_memory(const char *channel, payload message, payload bytes, bool attached) {
  uint8_t *data;
  const clearway_memory memory = host_memory(bytes.size, &data);
  memcpy(data, bytes.data, bytes.size);
  const payload whole = {data, bytes.size};
  if (print_answer(attached ? send_and_wait(channel, message, none, memory) : send_and_wait(channel, whole, memory, none))) {
    putchar(' ');
    print_payload(whole);
  }
  host_release(memory);
}

static void listen(char **words) {
  static uint8_t message[BYTES], event[BYTES];
  const payload arguments = read_payload(words[2], message);
  const clearway_status status = host_listen(words[1], arguments.data, arguments.size, (unsigned)atoi(words[3]));
  if (status != CLEARWAY_OK) {
    printf("error %s", code_of(status));
    return;
  }
  const size_t from = (size_t)atol(words[4]), to = (size_t)atol(words[5]);
  const unsigned long count = (unsigned long)atol(words[6]);
  unsigned long seen = 0;
  uint64_t bytes = 0;
  uint32_t hash = 0x811c9dc5;
  size_t size;
  while (host_next(event, sizeof event, &size)) {
    bytes += size;
    const size_t end = size < sizeof event ? size : sizeof event;
    for (size_t at = from; at < to && at < end; at++) hash = (hash ^ event[at]) * 0x01000193u;
    if (++seen == count) break;
  }
  host_cancel();
  printf("%lu events, %llu bytes, %x", seen, (unsigned long long)bytes, hash);
}

static void run(char **words) {
  static uint8_t message[BYTES], memory[BYTES];
  const char *verb = words[0];
  if (strcmp(verb, "call") == 0 || strcmp(verb, "send") == 0) {
    print_answer(send_and_wait(words[1], read_payload(words[2], message), none, none));
  } else if (strcmp(verb, "attach") == 0) {
    send_memory(words[1], read_payload(words[2], message), read_payload(words[3], memory), true);
  } else if (strcmp(verb, "lend") == 0) {
    send_memory(words[1], (payload){0}, read_payload(words[2], memory), false);
  } else if (strcmp(verb, "listen") == 0) {
    listen(words);
  } else if (strcmp(verb, "close") == 0) {
    host_close();
    printf(host_references() == 0 ? "closed" : "closed, with unreleased memory");
  } else {
    printf("error %s", verb);
  }
}

int main(void) {
  char *line = NULL;
  size_t capacity = 0;
  while (getline(&line, &capacity, stdin) > 0) {
    line[strcspn(line, "\n")] = 0;
    if (strncmp(line, "open ", 5) == 0) {
      host_open(line + 5);
      printf("opened");
    } else {
      char *words[WORDS] = {"", "", "", "", "", "", "", ""};
      size_t count = 0;
      for (char *word = strtok(line, " "); word != NULL && count < WORDS; word = strtok(NULL, " ")) words[count++] = word;
      run(words);
    }
    putchar('\n');
  }
  free(line);
  return 0;
}
