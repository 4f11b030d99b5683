// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * A beat: `[sent]`, or `[sent, due]` if the beater woke late and was due at `due`. Both are milliseconds on the beater's own clock.
 * An array of numbers costs less to clone than an object. By default, the beater sends 500 beats per second.
 */
export type BeatMessage = readonly [sentMs: number] | readonly [sentMs: number, dueMs: number];

/**
 * Runs in the beater's thread and sends a beat every `periodMs`. The thread is otherwise idle, so a late beat shows that it got no core.
 *
 * The page's own timers are unsuitable. To save wake-ups, Chromium delays them by up to 8 ms just before the tasks that cause stalls. A
 * worker's timers are clamped to 4 ms, but `Atomics.wait` is not. A WebAssembly memory provides the shared memory without cross-origin
 * isolation.
 *
 * The function runs from its own source text in another thread, so it must not use anything from outside. Its inner functions are
 * methods, because bundlers that keep names wrap other named functions in a helper. That thread would not have the helper.
 */
export function beater(scope: { postMessage(message: unknown): void }, periodMs: number): void {
  // In milliseconds. The rounding of timers does not explain a longer delay. An undisturbed wait of 1 ms took 1.06 to 1.15 ms.
  const lateMsMin = 0.3;
  let dueMs = 0;
  const sender = {
    sendBeat(): void {
      const sentMs = performance.now();
      const wantedMs = dueMs;
      // Sets the next due time first. If this thread then loses its core, the next beat is late.
      dueMs = sentMs + waitMs;
      scope.postMessage(sentMs - wantedMs > lateMsMin ? [sentMs, wantedMs] : [sentMs]);
    },
    sharedCell(): Int32Array<ArrayBufferLike> | undefined {
      try {
        const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
        const cell = new Int32Array(memory.buffer);
        Atomics.wait(cell, 0, 0, 0);
        return cell;
      } catch {
        // This browser lacks shared memory or waiting. Timers send the beats instead, less precisely.
        return undefined;
      }
    },
    tick(): void {
      sender.sendBeat();
      sender.schedule();
    },
    schedule(): void {
      setTimeout(() => sender.tick(), waitMs);
    },
  };
  const cell = sender.sharedCell();
  const waitMs = cell ? periodMs : Math.max(4, periodMs);
  dueMs = performance.now() + waitMs;
  if (!cell) return sender.schedule();
  for (;;) {
    Atomics.wait(cell, 0, 0, waitMs);
    sender.sendBeat();
  }
}
