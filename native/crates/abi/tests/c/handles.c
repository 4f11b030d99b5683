// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests that C passes handles as Rust expects them. A handle is a struct of one number in C, and that number in Rust.
#include "edge.h"
#include "host.h"

#define AS_THE_NUMBER(type) \
  _Static_assert(sizeof(type) == sizeof(uint64_t) && _Alignof(type) == _Alignof(uint64_t), #type " is a number")
AS_THE_NUMBER(clearway_memory);
AS_THE_NUMBER(clearway_reply);
AS_THE_NUMBER(clearway_stream);
AS_THE_NUMBER(clearway_plugin_id);
AS_THE_NUMBER(clearway_channel);
AS_THE_NUMBER(clearway_waiter);

// The arguments have both sizes. They are too many for the registers, so some of them go on the stack.
static uint64_t sum(uint64_t a, uint32_t b, uint64_t c, uint64_t d, uint32_t e, uint64_t f, uint64_t g, uint64_t h, uint64_t i,
                    uint64_t j) {
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j;
}

typedef uint64_t by_number(uint64_t, uint32_t, uint64_t, uint64_t, uint32_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
typedef uint64_t by_handle(clearway_memory, uint32_t, clearway_reply, clearway_stream, uint32_t, clearway_memory, clearway_memory,
                           clearway_memory, clearway_channel, clearway_waiter);
typedef clearway_status view_by_number(uint64_t, clearway_view *);

void check_handles(void) {
  // `volatile` hides the called function from the compiler.
  by_number *volatile numbers = sum;
  by_handle *volatile handles = (by_handle *)(void (*)(void))numbers;
  const clearway_memory six = {6}, seven = {7}, eight = {8};
  const uint64_t expected = numbers(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
  EXPECT(expected == handles((clearway_memory){1}, 2, (clearway_reply){3}, (clearway_stream){4}, 5, six, seven, eight,
                             (clearway_channel){9}, (clearway_waiter){10}));
  view_by_number *volatile view_number = (view_by_number *)(void (*)(void))clearway_memory_view;
  clearway_view made, seen;
  EXPECT(clearway_memory_allocate(9, 0, &made) == CLEARWAY_OK);
  EXPECT(view_number(made.memory.handle, &seen) == CLEARWAY_OK && seen.data == made.data && seen.size == 9);
  EXPECT(clearway_memory_release(made.memory) == CLEARWAY_OK);
}
