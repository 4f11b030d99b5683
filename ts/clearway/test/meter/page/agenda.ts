// SPDX-License-Identifier: MIT OR Apache-2.0

interface Entry {
  atMs: number;
  readonly order: number;
  readonly run: () => void;
}

/** A queue of scheduled events by time; events at the same time keep their order. A binary heap, because an hour has millions. */
export class Agenda {
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
