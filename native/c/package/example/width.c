// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes a message with the standard codec, reads it again, and prints one of its values:
//   cc width.c $(pkg-config --cflags --libs clearway-codec) -o width
#include <clearway_codec.h>
#include <stdio.h>

int main(void) {
  clearway_value memory[8];
  clearway_values values = {.at = memory, .capacity = 8};
  clearway_value *job = clearway_begin(&values, CLEARWAY_KIND_MAP);
  clearway_add_text(&values, "width", 5);
  clearway_add_integer(&values, 320);
  if (job == NULL || !clearway_end(&values, job)) return 1;

  uint8_t bytes[64];
  clearway_message message = {.bytes = bytes, .capacity = sizeof bytes};
  if (clearway_write_standard(&message, NULL, job).code != CLEARWAY_CODEC_OK) return 1;

  values.used = 0; // the memory is reused
  const clearway_value *read;
  clearway_codec_result result = clearway_read_standard(bytes, message.size, NULL, &values, &read);
  if (result.code != CLEARWAY_CODEC_OK) {
    fprintf(stderr, "%s at byte %zu\n", clearway_codec_code_name(result.code), result.offset);
    return 1;
  }
  const clearway_value *width = clearway_find(read, "width");
  if (width == NULL || width->kind != CLEARWAY_KIND_INTEGER) return 1;
  printf("%zu bytes, width %lld\n", message.size, (long long)width->as.integer);
  return 0;
}
