// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * `[sent]`, or `[sent, due]` where the beater itself woke late: it was due at `due`. Both in milliseconds on the beater's
 * own clock. A number array costs less to clone than an object, 500 times a second.
 */
export type BeatMessage = readonly [sentMs: number] | readonly [sentMs: number, dueMs: number];

/**
 * The beater's thread: sends a beat every `periodMs`, and is otherwise idle, so that a late one tells of the machine.
 *
 * The page's own timers would not do: Chromium lets them wait up to 8 ms for each other to save wakes, just before
 * the very tasks that make stalls. A worker's timers are clamped to 4 ms; `Atomics.wait` is not, and a WebAssembly
 * memory gives it shared memory without cross-origin isolation.
 *
 * Runs from its own source text in another thread: it may use nothing from outside itself. Its inner functions are
 * methods, because bundlers that keep names wrap any other named function in a helper that this thread would lack.
 */
export function beater(scope: { postMessage(message: unknown): void }, periodMs: number): void {
  // Beyond this a late wake is no timer's rounding. An undisturbed wait of 1 ms took 1.06 to 1.15 ms.
  const lateMs = 0.3;
  let dueMs = 0;
  const heart = {
    beat(): void {
      const sentMs = performance.now();
      const wantedMs = dueMs;
      // Before anything else: whatever keeps this thread from its core from here on makes the next beat late.
      dueMs = sentMs + waitMs;
      scope.postMessage(sentMs - wantedMs > lateMs ? [sentMs, wantedMs] : [sentMs]);
    },
    waitingCell(): Int32Array<ArrayBufferLike> | undefined {
      try {
        const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
        const cell = new Int32Array(memory.buffer);
        Atomics.wait(cell, 0, 0, 0);
        return cell;
      } catch {
        // No shared memory or no waiting here: timers stand in, with a coarser beat.
        return undefined;
      }
    },
    tick(): void {
      heart.beat();
      heart.again();
    },
    again(): void {
      setTimeout(() => heart.tick(), waitMs);
    },
  };
  const cell = heart.waitingCell();
  const waitMs = cell ? periodMs : Math.max(4, periodMs);
  dueMs = performance.now() + waitMs;
  if (!cell) return heart.again();
  for (;;) {
    Atomics.wait(cell, 0, 0, waitMs);
    heart.beat();
  }
}
