// SPDX-License-Identifier: MIT OR Apache-2.0

/** The task sizes of the size sweep, in nanoseconds. The key is the metric with the time of such a task. */
export const SIZES_NS: Record<string, number> = {
  task10ns: 10,
  task100ns: 100,
  task1us: 1000,
  task10us: 10_000,
  task100us: 100_000,
  task1ms: 1_000_000,
  task10ms: 10_000_000,
  task100ms: 100_000_000,
};
