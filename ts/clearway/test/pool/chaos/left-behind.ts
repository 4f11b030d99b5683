// SPDX-License-Identifier: MIT OR Apache-2.0
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

// What orders of events may leave behind in a process beside calls and threads: handles, listeners, memory.

/** Counts the handles and the listeners of this process, by name. */
function countAll(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) {
    const name = `handles of the kind ${kind}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  for (const event of process.eventNames())
    counts.set(`listeners to ${String(event)} of the process`, process.listenerCount(event));
  return counts;
}

function more(before: Map<string, number>): string[] {
  return [...countAll()]
    .filter(([name, count]) => count > (before.get(name) ?? 0))
    .map(([name, count]) => `${count - (before.get(name) ?? 0)} more ${name}`);
}

// A worker that is idle is let go of 10 ms later, and a thread's own handles close some turns after its exit.
const turnsMax = 2_000;

/** Counts now. The function that it returns counts again, once short timers are over, and says what there is more of. */
export function watchLeft(): () => Promise<string[]> {
  const before = countAll();
  return async () => {
    for (let turn = 0; turn < turnsMax && more(before).length > 0; turn++)
      await new Promise((resolve) => setTimeout(resolve, 1));
    return more(before);
  };
}

// Heaps differ by some MB with what is compiled and cached. A leak of 1 KB an order is 20 MB in the shortest of the long runs.
const heapGrowthMax = 16 * 2 ** 20;

function heapNow(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  for (let round = 0; round < 4; round++) collect();
  return process.memoryUsage().heapUsed;
}

/** Counts the heap's bytes after some orders, and again in the end: for long runs only, since the gate asserts no bytes. */
export class HeapWatch {
  readonly #on: boolean;
  readonly #firstAt: number;
  #played = 0;
  #first = 0;

  constructor(orders: number) {
    this.#on = process.env["CLEARWAY_FUZZ_HEAP"] === "1" && orders >= 1000;
    this.#firstAt = Math.ceil(orders / 10);
  }

  /** An order was played. */
  played(): void {
    if (++this.#played === this.#firstAt && this.#on) this.#first = heapNow();
  }

  /** Says how much the heap has grown; undefined if that is within the bound, or if memory is not counted. */
  grown(): string | undefined {
    if (!this.#on) return undefined;
    const bytes = heapNow() - this.#first;
    console.log(`${this.#played} orders: the heap has grown by ${bytes} bytes since the first ${this.#firstAt}`);
    return bytes > heapGrowthMax ? `the heap has grown by ${bytes} bytes in ${this.#played} orders` : undefined;
  }
}
