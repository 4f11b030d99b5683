// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, vi } from "vitest";
import type { StallReport } from "../../../src/meter/report.js";
import type { Watch, WatchOptions } from "../../../src/meter/watch.js";
import { followGlobals } from "../../fixtures/fake-timers.js";

interface Entry {
  atMs: number;
  readonly order: number;
  readonly run: () => void;
}

/** A queue of scheduled events by time; events at the same time keep their order. A binary heap, because an hour has millions. */
class Agenda {
  readonly #heap: Entry[] = [];
  #order = 0;

  add(atMs: number, run: () => void, order: number = this.#order++): Entry {
    const entry = { atMs, order, run };
    const heap = this.#heap;
    let at = heap.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!sooner(entry, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = entry;
    return entry;
  }

  get nextMs(): number {
    return this.#heap[0]?.atMs ?? Number.POSITIVE_INFINITY;
  }

  take(): Entry {
    const heap = this.#heap;
    const first = heap[0]!;
    const last = heap.pop()!;
    if (heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = at * 2 + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && sooner(heap[child + 1]!, heap[child]!)) child++;
      if (!sooner(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

const sooner = (a: Entry, b: Entry): boolean => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);

/** The machine of a scripted page. All times are in milliseconds. */
export interface Machine {
  /** Longest delay of a message, of a timer and of a worker's beat on an idle machine. */
  readonly wayMs: number;
  readonly timerMs: number;
  readonly wakeMs: number;
  /** From `new Worker()` to the worker's first line. Halfway, the page's thread fetches the script. */
  readonly startMs: number;
  readonly clockStepMs: number;
  /** Whether a worker runs, fails with an error event, or never sends a message. */
  worker: "runs" | "refused" | "silent";
}

const quiet: Machine = { wayMs: 0.2, timerMs: 1, wakeMs: 0.2, startMs: 10, clockStepMs: 0, worker: "runs" };
const frameMs = 1000 / 60;

/**
 * A page on a scripted timeline: one thread with tasks, timers, frames and events, workers with their own clocks, and a clock
 * that only the script advances. Nothing waits: an hour takes only as long as its events take to run.
 */
export class ScriptedPage {
  readonly #agenda = new Agenda();
  readonly #machine: Machine;
  readonly #listeners = new Map<string, Set<(event: { type: string }) => void>>();
  readonly #timers = new Set<number>();
  readonly #frames: ((atMs: number) => void)[] = [];
  #nowMs = 0;
  #freeMs = 0;
  #timerIds = 0;
  #random = 1;
  #frozenSinceMs: number | undefined;
  #thawedMs = 0;
  /** The wall clock. Tests step it, and no measured length may follow. */
  wallMs = Date.UTC(2026, 0, 1);
  visibility: "visible" | "hidden" = "visible";
  workersRunning = 0;
  workersStarted = 0;

  constructor(machine: Partial<Machine> = {}) {
    this.#machine = { ...quiet, ...machine };
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  get machine(): Machine {
    return this.#machine;
  }

  /** Counts the workers, listeners and timers that a watch has left on the page. */
  leftOver(): { workers: number; listeners: number; timers: number } {
    let listeners = 0;
    for (const each of this.#listeners.values()) listeners += each.size;
    return { workers: this.workersRunning, listeners, timers: this.#timers.size };
  }

  /** Replaces the host's globals with this page, until `vi.unstubAllGlobals()`. */
  install(): void {
    const page = this;
    const target = {
      addEventListener: (type: string, listener: (event: { type: string }) => void) => {
        const known = page.#listeners.get(type) ?? new Set();
        page.#listeners.set(type, known.add(listener));
      },
      removeEventListener: (type: string, listener: (event: { type: string }) => void) => {
        page.#listeners.get(type)?.delete(listener);
      },
    };
    const window = { ...target, top: undefined as unknown };
    window.top = window;
    class FakeDate extends Date {
      static override now(): number {
        return page.wallMs + page.#nowMs;
      }
    }
    const globals = {
      performance: { now: () => page.#nowMs },
      Date: FakeDate,
      PerformanceObserver: undefined,
      window,
      document: {
        ...target,
        get visibilityState() {
          return page.visibility;
        },
      },
      Blob: class {
        constructor(readonly parts: string[]) {}
      },
      URL: { createObjectURL: (blob: { parts: string[] }) => blob.parts.join(""), revokeObjectURL: () => {} },
      Worker: class {
        constructor(source: string) {
          // biome-ignore lint/correctness/noConstructorReturn: replaces a class of the host
          return page.#startWorker(Number(/\(self, ([\d.]+)\);$/.exec(source)![1])) as never;
        }
      },
      setTimeout: (run: () => void, ms = 0) => page.#setTimeout(run, ms),
      clearTimeout: (id: number | undefined) => void page.#timers.delete(id as number),
      requestAnimationFrame: (run: (atMs: number) => void) => page.#frames.push(run),
    };
    for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value);
    followGlobals();
    this.#agenda.add(frameMs, () => this.#frame());
  }

  /** Runs a task of `lengthMs` on this thread, as soon as the thread is free after `atMs`. */
  task(atMs: number, lengthMs = 0, run: () => void = () => {}): void {
    this.#agenda.add(atMs, () =>
      this.#onThread(() => {
        run();
        this.#nowMs += lengthMs;
      }),
    );
  }

  /** Shows or hides the page at `atMs`. The event waits for the thread like any other. */
  visible(atMs: number, visibility: "visible" | "hidden"): void {
    this.#agenda.add(atMs, () => {
      this.visibility = visibility;
      this.#onThread(() => this.#dispatch("visibilitychange"));
    });
  }

  /** Dispatches a page lifecycle event (`pagehide`, `pageshow`). */
  event(atMs: number, type: string): void {
    this.#agenda.add(atMs, () => this.#onThread(() => this.#dispatch(type)));
  }

  /** Suspends the page and its workers from `fromMs` to `toMs`. With `withEvents`, dispatches the events `freeze` and `resume`. */
  frozen(fromMs: number, toMs: number, withEvents = true): void {
    this.#agenda.add(fromMs, () => {
      if (withEvents) this.#onThread(() => this.#dispatch("freeze"));
      this.#agenda.add(this.#nowMs, () => {
        this.#frozenSinceMs = this.#nowMs;
        this.#thawedMs = toMs;
        this.#freeMs = toMs;
      });
    });
    this.#agenda.add(toMs, () => {
      this.#frozenSinceMs = undefined;
      if (withEvents) this.#onThread(() => this.#dispatch("resume"));
    });
  }

  /** Runs all events until `untilMs`. */
  run(untilMs: number): void {
    while (this.#agenda.nextMs <= untilMs) {
      const entry = this.#agenda.take();
      this.#nowMs = entry.atMs;
      entry.run();
    }
    this.#nowMs = Math.max(untilMs, this.#freeMs);
  }

  /** Runs a function on this thread, now or when it is free. */
  #onThread(run: () => void): void {
    if (this.#freeMs > this.#nowMs) {
      this.#agenda.add(this.#freeMs, () => this.#onThread(run));
      return;
    }
    const startMs = this.#nowMs;
    run();
    this.#freeMs = this.#nowMs;
    this.#nowMs = startMs;
  }

  #dispatch(type: string): void {
    for (const listener of [...(this.#listeners.get(type) ?? [])]) listener({ type });
  }

  /** Returns a pseudo-random number from 0 to `most`, from a fixed seed. */
  #upTo(most: number): number {
    this.#random = (Math.imul(this.#random, 1664525) + 1013904223) >>> 0;
    return (this.#random / 2 ** 32) * most;
  }

  #setTimeout(run: () => void, ms: number): number {
    const id = ++this.#timerIds;
    this.#timers.add(id);
    // A hidden page's timers fire at most once a second.
    const least = this.visibility === "hidden" ? Math.max(ms, 1000) : ms;
    this.#agenda.add(this.#nowMs + least + this.#upTo(this.#machine.timerMs), () =>
      this.#onThread(() => {
        if (this.#timers.delete(id)) run();
      }),
    );
    return id;
  }

  #frame(): void {
    const atMs = this.#nowMs;
    this.#onThread(() => {
      if (this.visibility === "hidden") return;
      for (const run of this.#frames.splice(0)) run(atMs);
    });
    // Frames follow the display, not the thread.
    this.#agenda.add(atMs + frameMs, () => this.#frame());
  }

  #startWorker(periodMs: number): object {
    const page = this;
    let over = false;
    const worker = {
      onmessage: undefined as ((event: { data: number[] }) => void) | undefined,
      onerror: undefined as ((event: { message: string; preventDefault(): void }) => void) | undefined,
      terminate(): void {
        if (!over) page.workersRunning--;
        over = true;
      },
    };
    page.workersRunning++;
    page.workersStarted++;
    if (page.#machine.worker === "refused") {
      page.task(page.#nowMs, 0, () => worker.onerror?.({ message: "", preventDefault: () => {} }));
      return worker;
    }
    if (page.#machine.worker === "silent") return worker;
    let originMs = 0;
    let dueMs = 0;
    const beat = (): void => {
      if (over) return;
      if (page.#frozenSinceMs !== undefined) {
        page.#agenda.add(page.#thawedMs, beat);
        return;
      }
      const sentMs = page.#nowMs - originMs;
      const data = sentMs - dueMs > 0.3 ? [sentMs, dueMs] : [sentMs];
      page.#agenda.add(page.#nowMs + 0.05 + page.#upTo(page.#machine.wayMs), () =>
        page.#onThread(() => {
          if (!over) worker.onmessage?.({ data });
        }),
      );
      dueMs = sentMs + periodMs;
      page.#agenda.add(page.#nowMs + periodMs + page.#upTo(page.#machine.wakeMs), beat);
    };
    // The page's thread fetches the worker's script.
    page.task(page.#nowMs + page.#machine.startMs / 2, 0, () =>
      page.#agenda.add(page.#nowMs + page.#machine.startMs / 2, () => {
        originMs = page.#nowMs;
        dueMs = periodMs;
        page.#agenda.add(page.#nowMs + periodMs, beat);
      }),
    );
    return worker;
  }
}

export const second = 1000;
export const minute = 60 * second;
export const hour = 60 * minute;

export interface World {
  readonly page: ScriptedPage;
  watch(options?: WatchOptions): Watch;
}

export async function world(
  machine: Partial<Machine> = {},
  visibility: "visible" | "hidden" = "visible",
): Promise<World> {
  const page = new ScriptedPage(machine);
  page.visibility = visibility;
  // Runs the browser's host in Node, newly loaded for each page. The script drives every clock, timer, worker and event.
  vi.resetModules();
  vi.doMock("../../../src/meter/host/node.js", () => import("../../../src/meter/host/browser.js"));
  // The script's clock stands while code runs, so its step cannot be seen.
  vi.doMock("../../../src/meter/host/host.js", async (original) => ({
    ...(await original<object>()),
    clockStepOf: () => page.machine.clockStepMs,
  }));
  vi.stubGlobal("document", {}); // the host reads it when it is loaded
  const { watch } = await import("../../../src/meter/watch.js");
  page.install();
  // Finer than the default, so that a false stall of over 2 ms is found.
  return { page, watch: (options) => watch({ floorMs: 2, ...options }) };
}

/** Makes a world with one watch. */
export async function watched(...given: Parameters<typeof world>): Promise<World & { watching: Watch }> {
  const made = await world(...given);
  return { ...made, watching: made.watch() };
}

export const lengths = (report: StallReport): number[] => report.stalls.map(({ lengthMs }) => lengthMs);

/** Checks that the report has exactly the stalls of the script, to within `errorMs`. */
export function expectStalls(
  report: StallReport,
  script: readonly (readonly [atMs: number, lengthMs: number])[],
  errorMs = 1.5,
) {
  const found = report.stalls.map(({ startMs, lengthMs }) => [startMs, lengthMs] as const);
  const off = script.map(([atMs, lengthMs], index) => {
    const [startMs, foundMs] = found[index] ?? [Number.POSITIVE_INFINITY, 0];
    return Math.max(Math.abs(startMs - atMs), Math.abs(foundMs - lengthMs));
  });
  expect({ found, off: off.filter((ms) => ms > errorMs) }).toEqual({ found: expect.any(Array), off: [] });
  expect(found).toHaveLength(script.length);
}

/** Blocks the thread at the times and for the lengths of the script. */
export function block(page: ScriptedPage, script: readonly (readonly [atMs: number, lengthMs: number])[]): void {
  for (const [atMs, lengthMs] of script) page.task(atMs, lengthMs);
}
