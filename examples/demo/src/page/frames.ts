// SPDX-License-Identifier: MIT OR Apache-2.0

/** A frame. `counts` is false for the frames of the page's own start, and for the first frame after the page was hidden. */
export interface Frame {
  readonly nowMs: number;
  /** The time since the previous frame. It is 0 without a previous frame. */
  readonly lengthMs: number;
  readonly counts: boolean;
}

/** A frame of at most this length is steady: one and a half frames at 60 Hz. */
const steadyMs = 25;
/** The page's start is over after this number of steady frames in a row. */
const steadyFrames = 3;
/** Maximum length of the page's start after `load`, in milliseconds. A display or a machine may never be steady. */
const startMsMax = 1_000;

/**
 * Turns the times of frames into lengths, and tells which frames count. The page's own start ends after `load`, when frames are steady, or
 * when a job begins. The class reads no clock: the caller passes the time.
 */
export class FrameClock {
  #lastMs: number | undefined;
  #loadedMs: number | undefined;
  #steady = 0;
  #started = false;

  /** The page has loaded. */
  loaded(nowMs: number): void {
    this.#loadedMs ??= nowMs;
  }

  /** Ends the page's start now, because a job begins. The next frame counts. */
  begin(): void {
    this.#started = true;
  }

  /** Leaves out the time until the next frame, because the browser draws no frames of a hidden page. */
  hide(): void {
    this.#lastMs = undefined;
  }

  frame(nowMs: number): Frame {
    const first = this.#lastMs === undefined;
    const lengthMs = nowMs - (this.#lastMs ?? nowMs);
    this.#lastMs = nowMs;
    const counts = this.#started && !first;
    if (!this.#started && this.#loadedMs !== undefined && !first) {
      this.#steady = lengthMs <= steadyMs ? this.#steady + 1 : 0;
      this.#started = this.#steady >= steadyFrames || nowMs - this.#loadedMs >= startMsMax;
    }
    return { nowMs, lengthMs, counts };
  }
}

/** Calls each listener once per frame. */
export function onEachFrame(listeners: readonly ((frame: Frame) => void)[]): FrameClock {
  const clock = new FrameClock();
  const loaded = () => clock.loaded(performance.now());
  if (document.readyState === "complete") loaded();
  else addEventListener("load", loaded, { once: true });
  document.addEventListener("visibilitychange", () => clock.hide());
  requestAnimationFrame(function frame(now) {
    const drawn = clock.frame(now);
    for (const listener of listeners) listener(drawn);
    requestAnimationFrame(frame);
  });
  return clock;
}
