// SPDX-License-Identifier: MIT OR Apache-2.0
import { type BeatMessage, beater } from "./browser-beater.js";

/** An unused heart stops after this: starting one takes some 10 ms and disturbs what is measured next. */
const lingerMs = 3_000;
/** So many beats show how fast a message can be; the detector's zero rests on the fastest. */
const readyBeats = 20;
/** A worker that sends nothing for so long is blocked without an error event (some content security policies). */
const startMsMax = 2_000;

/** A beat was sent at `sentMs` (its own clock) and is answered now, `atMs` on ours; `heldMs` is how late it woke. */
export type BeatListener = (sentMs: number, atMs: number, heldMs: number) => void;

/** The one source of beats of this thread: a worker made from a Blob URL, shared by all that observe the thread. */
class Heart {
  readonly #listeners = new Set<BeatListener>();
  #worker: Worker | undefined;
  #why: string | undefined;
  #beats = 0;
  #ready: Promise<void> = Promise.resolve();
  #settle: () => void = () => {};
  #linger: ReturnType<typeof setTimeout> | undefined;

  /** Why there is no heart, or `undefined` while it beats or starts. */
  get why(): string | undefined {
    return this.#why;
  }

  /** Settles after the first beats, or when there can be none. Never rejects. */
  get ready(): Promise<void> {
    return this.#ready;
  }

  use(listener: BeatListener, periodMs: number): void {
    clearTimeout(this.#linger);
    this.#listeners.add(listener);
    if (!this.#worker && this.#why === undefined) this.#start(periodMs);
  }

  leave(listener: BeatListener): void {
    if (!this.#listeners.delete(listener) || this.#listeners.size > 0) return;
    this.#linger = setTimeout(() => this.#stop(), lingerMs);
  }

  #start(periodMs: number): void {
    this.#beats = 0;
    this.#ready = new Promise((resolve) => {
      this.#settle = resolve;
    });
    try {
      const source = `(${beater.toString()})(self, ${periodMs});`;
      const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
      const worker = new Worker(url);
      this.#worker = worker;
      const timeout = setTimeout(() => this.#fail("the watcher worker sent nothing"), startMsMax);
      worker.onmessage = (event: MessageEvent<BeatMessage>) => {
        const atMs = performance.now();
        if (this.#beats++ === 0) URL.revokeObjectURL(url);
        if (this.#beats === readyBeats) {
          clearTimeout(timeout);
          this.#settle();
        }
        const [sentMs, dueMs] = event.data;
        for (const listener of this.#listeners) listener(sentMs, atMs, dueMs === undefined ? 0 : sentMs - dueMs);
      };
      worker.onerror = (event) => {
        clearTimeout(timeout);
        event.preventDefault();
        this.#fail(
          `the watcher worker failed${event.message ? `: ${event.message}` : " (a content security policy?)"}`,
        );
      };
    } catch (error) {
      this.#fail(`no watcher worker: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  #fail(why: string): void {
    this.#why = why;
    this.#stop();
    this.#settle();
  }

  #stop(): void {
    this.#worker?.terminate();
    this.#worker = undefined;
  }
}

export const heart: Heart = new Heart();
