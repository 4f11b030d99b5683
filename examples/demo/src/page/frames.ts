// SPDX-License-Identifier: MIT OR Apache-2.0

type Listener = (nowMs: number, lengthMs: number) => void;

/** Calls each listener once per frame, with the time since the previous frame. */
export function onEachFrame(listeners: readonly Listener[]): void {
  let last = performance.now();
  requestAnimationFrame(function frame(now) {
    for (const listener of listeners) listener(now, now - last);
    last = now;
    requestAnimationFrame(frame);
  });
}
