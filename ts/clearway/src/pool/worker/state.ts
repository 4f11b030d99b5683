// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError, caused } from "../../error/clearway-error.js";

/** The states of a worker. */
export type WorkerState = "starting" | "ready" | "draining" | "closing" | "gone";

/**
 * The state machine of one worker: starting, ready, draining (no new calls), closing its resources, gone. Reads no clock and starts no
 * thread.
 */
export class WorkerLife {
  #state: WorkerState = "starting";

  get state(): WorkerState {
    return this.#state;
  }

  /** Records that the worker's module is loaded. Returns false if the worker had to end before. */
  ready(): boolean {
    if (this.#state !== "starting") return false;
    this.#state = "ready";
    return true;
  }

  /** Stops new calls. Returns `close` if the worker has no open call, and `kill` if it is still starting. */
  drain(load: number): "wait" | "close" | "kill" | "nothing" {
    if (this.#state === "starting") return "kill";
    if (this.#state === "ready") this.#state = "draining";
    return this.drained(load);
  }

  /** Records that a call left the worker, which now has `load` calls. Returns `close` if this was the last call of a draining worker. */
  drained(load: number): "wait" | "close" | "nothing" {
    if (this.#state !== "draining") return "nothing";
    if (load > 0) return "wait";
    this.#state = "closing";
    return "close";
  }

  /** Records that the worker is gone. Returns `wanted` if the pool ended it. */
  exit(killed: boolean): "failedToStart" | "crashed" | "wanted" | "nothing" {
    const was = this.#state;
    this.#state = "gone";
    if (was === "gone") return "nothing";
    if (killed || was === "closing") return "wanted";
    return was === "starting" ? "failedToStart" : "crashed";
  }
}

/** Returns the error for a worker that never became ready. */
export function startFailure(why: string, cause?: unknown): ClearwayError {
  const hint = "Is the URL right, and does the module call expose()?";
  return caused("worker-start-failed", `the worker could not be started: ${why.replace(/\.$/, "")}. ${hint}`, cause);
}

/** Returns the error for a call that comes after `close()`, or that takes longer than `close()` waits. */
export function poolClosed(more = ""): ClearwayError {
  return new ClearwayError("pool-closed", `the pool is closed${more}`);
}

// Number of slots in the array. Ids are consecutive, so the ids of open calls usually differ in their low bits. A caller with 1,000 calls
// in flight at one worker needs 1,024 slots.
const slots = 1024;

/**
 * The open calls of one worker, by id, with the methods of a map. Most calls are in an array, at the index that the low bits of their id
 * give. If another call has that slot, the call is in a map instead. A slot is taken if a call takes long, or if there are more calls
 * than slots.
 *
 * A map alone is slower. With thousands of calls, V8 replaces the map's table again and again. An old table keeps all its entries and the
 * next table alive. With 1,000 calls in flight, every garbage collection then kept 1.5 MB of answered calls. The caller spent a quarter of
 * its time on garbage collection. See `spec/decisions/open-calls-are-in-an-array.md`.
 */
export class CallTable<Call extends { readonly id: number }> {
  size = 0;
  readonly #slots = new Array<Call | undefined>(slots).fill(undefined);
  readonly #overflow = new Map<number, Call>();

  get(id: number): Call | undefined {
    const call = this.#slots[id & (slots - 1)];
    return call?.id === id ? call : this.#overflow.get(id);
  }

  /** Adds a call that is not in the table. */
  set(id: number, call: Call): void {
    this.size++;
    const slot = id & (slots - 1);
    if (this.#slots[slot]) this.#overflow.set(id, call);
    else this.#slots[slot] = call;
  }

  /** Removes a call. Does nothing if the call is not in the table. */
  delete(id: number): void {
    const slot = id & (slots - 1);
    if (this.#slots[slot]?.id === id) this.#slots[slot] = undefined;
    else if (!this.#overflow.delete(id)) return;
    this.size--;
  }

  /** Returns all calls, oldest first. The array is a copy, so the caller may change the table while iterating. */
  values(): Call[] {
    const all = [...this.#slots.filter((call) => call !== undefined), ...this.#overflow.values()];
    return all.sort((a, b) => a.id - b.id);
  }
}
