// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError, onAbort } from "clearway/remote";
import { systemClock, timerMsMax, timers } from "../clock.js";
import type { Stored } from "./publisher.js";

/** A call that the servers have confirmed. */
export interface StoredCall extends Stored {
  /** The object with its arguments, if they are too large for a message. */
  readonly object: string | undefined;
  /** The partition of a call with a key. */
  readonly partition: number | undefined;
}

/** A call that waits for its outcome. */
export interface OpenCall {
  readonly resolve: (value: unknown) => void;
  readonly fail: (reason: unknown) => void;
  readonly atMs: number;
  /** Ends the timer and the listener of the call. */
  release: (() => void) | undefined;
  /** Place of the call in the queue's stream, when the servers have confirmed it. */
  stored: StoredCall | undefined;
  /** Whether the call was cancelled. */
  cancelled: boolean;
}

export type CallOutcome = "ok" | "failed" | "cancelled";

/** The calls of one caller that wait for an outcome. Each settles once. */
export class OpenCalls {
  readonly counters = { ok: 0, failed: 0, cancelled: 0 };
  readonly #calls = new Map<string, OpenCall>();
  #whenEmpty: (() => void) | undefined;

  get size(): number {
    return this.#calls.size;
  }

  add(id: string, call: OpenCall): void {
    this.#calls.set(id, call);
  }

  get(id: string): OpenCall | undefined {
    return this.#calls.get(id);
  }

  /** Ends a call. Returns false if it has ended already. */
  settle(id: string, outcome: CallOutcome, act: (call: OpenCall) => void): boolean {
    const call = this.#calls.get(id);
    if (call === undefined) return false;
    this.#calls.delete(id);
    call.release?.();
    this.counters[outcome]++;
    act(call);
    if (this.#calls.size === 0) this.#whenEmpty?.();
    return true;
  }

  /** Rejects every call. */
  failAll(reason: unknown): void {
    for (const id of [...this.#calls.keys()]) this.settle(id, "failed", (call) => call.fail(reason));
  }

  /** Rejects the calls that the servers have confirmed. */
  failStored(reason: unknown): void {
    for (const [id, { stored }] of [...this.#calls]) {
      if (stored !== undefined) this.settle(id, "failed", (call) => call.fail(reason));
    }
  }

  /** Rejects the calls that are older than the servers keep them. */
  failOld(ageMs: number): void {
    const oldest = timers.nowMs() - ageMs;
    // A map keeps the order of insertion, so the oldest calls come first.
    for (const [id, { atMs }] of this.#calls) {
      if (atMs >= oldest) return;
      const reason = new ClearwayError(
        "deadline",
        `the servers keep a call and its outcome for ${ageMs} ms, and it had none`,
      );
      this.settle(id, "failed", (call) => call.fail(reason));
    }
  }

  /** Resolves when no call is open, or after `timeoutMs`. */
  async empty(timeoutMs: number): Promise<void> {
    if (this.#calls.size === 0) return;
    await new Promise<void>((resolve) => {
      const disarm = systemClock.after(timeoutMs, resolve);
      this.#whenEmpty = () => {
        disarm();
        resolve();
      };
    });
  }
}

/**
 * Calls `cancel` with the reason when the signal aborts or the deadline is over, and at once if the signal has aborted. Returns a function
 * that ends this, or undefined if there is nothing to end. Neither throws, whatever the signal does.
 */
export function limited(
  { signal, deadlineMs }: { readonly signal?: AbortSignal; readonly deadlineMs?: number },
  cancel: (reason: unknown) => void,
): (() => void) | undefined {
  if (signal === undefined && deadlineMs === undefined) return undefined;
  const message = `the call did not finish within deadlineMs: deadlineMs=${deadlineMs}`;
  const late = (): void => cancel(new ClearwayError("deadline", message));
  // A longer deadline is as good as none: the servers do not keep a call for so long.
  const disarm = deadlineMs === undefined || deadlineMs > timerMsMax ? undefined : systemClock.after(deadlineMs, late);
  const ignore = signal && onAbort(signal, cancel);
  return () => {
    disarm?.();
    ignore?.();
  };
}
