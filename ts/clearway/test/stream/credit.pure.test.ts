// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import {
  adaptiveItemsMax,
  adaptiveWindow,
  defaultWindow,
  type Grant,
  ReceiveCredit,
  SendCredit,
  type Window,
} from "../../src/stream/credit.js";
import fc from "../fixtures/fast-check.js";

/** Connects both halves by a wire that delivers on demand. */
class Pair {
  readonly send = new SendCredit();
  readonly receive: ReceiveCredit;
  readonly chunks: number[] = [];
  readonly arrived: number[] = [];
  readonly grants: Grant[] = [];
  sent = 0;

  constructor(readonly window: Window) {
    this.receive = new ReceiveCredit(window);
    this.grants.push(this.receive.open());
  }

  produce(bytes: number): boolean {
    if (!this.send.maySend) return false;
    this.send.spend(bytes);
    this.chunks.push(bytes);
    this.sent++;
    return true;
  }

  deliverChunk(): boolean {
    const bytes = this.chunks.shift();
    if (bytes === undefined) return false;
    expect(this.receive.arrived(bytes), "the producer had credit for what it sent").toBe(true);
    this.arrived.push(bytes);
    return true;
  }

  deliverGrant(): boolean {
    const grant = this.grants.shift();
    if (grant === undefined) return false;
    this.send.grant(grant.items, grant.bytes);
    return true;
  }

  consume(): boolean {
    const bytes = this.arrived.shift();
    if (bytes === undefined) return false;
    const grant = this.receive.taken(bytes);
    if (grant !== undefined) this.grants.push(grant);
    return true;
  }

  /** The values that were produced but not consumed, oldest first. */
  get ahead(): number[] {
    return [...this.arrived, ...this.chunks];
  }
}

const windows = fc.record({ items: fc.integer({ min: 1, max: 20 }), bytes: fc.integer({ min: 1, max: 1000 }) });
const sizes = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 400 }), fc.integer({ min: 0, max: 5000 }));

describe("the credit of a stream", () => {
  test("limits the producer to the window in items, and in bytes except for one value, at any order of events", () => {
    const steps = fc.array(fc.tuple(fc.constantFrom("produce", "chunk", "grant", "consume"), sizes), {
      maxLength: 300,
    });
    fc.assert(
      fc.property(windows, steps, (window, events) => {
        const pair = new Pair(window);
        for (const [event, bytes] of events) {
          if (event === "produce") pair.produce(bytes);
          else if (event === "chunk") pair.deliverChunk();
          else if (event === "grant") pair.deliverGrant();
          else pair.consume();
          expect(pair.ahead.length).toBeLessThanOrEqual(window.items);
          const allButLast = pair.ahead.slice(0, -1).reduce((sum, each) => sum + each, 0);
          expect(allButLast).toBeLessThan(window.bytes);
        }
      }),
    );
  });

  test("never deadlocks: every value arrives while the consumer reads", () => {
    fc.assert(
      fc.property(windows, fc.array(sizes, { maxLength: 100 }), (window, values) => {
        const pair = new Pair(window);
        let moved = true;
        while (pair.sent < values.length && moved) {
          moved = pair.produce(values[pair.sent]!);
          if (!moved) moved = pair.deliverGrant() || pair.deliverChunk() || pair.consume();
        }
        expect(pair.sent).toBe(values.length);
      }),
    );
  });

  test("is returned in half windows: two grants per window, not one per value", () => {
    const pair = new Pair({ items: 16, bytes: 1e9 });
    pair.deliverGrant();
    let grants = 0;
    for (let at = 0; at < 160; at++) {
      expect(pair.produce(1)).toBe(true);
      pair.deliverChunk();
      pair.consume();
      while (pair.deliverGrant()) grants++;
    }
    expect(grants).toBe(20);
  });

  test("lets one value larger than the window pass alone", () => {
    const pair = new Pair({ items: 16, bytes: 100 });
    pair.deliverGrant();
    expect(pair.produce(5000)).toBe(true);
    expect(pair.produce(1)).toBe(false);
    pair.deliverChunk();
    expect(pair.receive.outstanding).toBe(false);
    pair.consume();
    pair.deliverGrant();
    expect(pair.produce(1)).toBe(true);
  });
});

describe("a window that is larger than the values in flight may be", () => {
  const flight = 8;

  test("limits the values in flight at any order of events, and never deadlocks", () => {
    const steps = fc.array(fc.constantFrom("produce", "arrive", "take"), { maxLength: 400 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), steps, (items, events) => {
        const send = new SendCredit();
        const receive = new ReceiveCredit({ items, bytes: 1000 }, undefined, flight);
        let [inFlight, unread] = [0, 0];
        const grant = (more: Grant | undefined): void => {
          if (more) send.grant(more.items, more.bytes);
          expect(inFlight + send.items).toBeLessThanOrEqual(flight);
          expect(inFlight + send.items + unread).toBeLessThanOrEqual(items);
        };
        const step = (event: string): boolean => {
          if (event === "produce" && send.maySend) {
            send.spend(1);
            inFlight++;
          } else if (event === "arrive" && inFlight > 0) {
            inFlight--;
            unread++;
            expect(receive.arrived(1)).toBe(true);
            if (receive.hasMore) grant(receive.more());
          } else if (event === "take" && unread > 0) {
            unread--;
            grant(receive.taken(1));
          } else return false;
          return true;
        };
        grant(receive.open());
        for (const event of events) step(event);
        for (let sent = 0; sent < 100; sent++) {
          while (!step("produce")) expect(step("arrive") || step("take")).toBe(true);
        }
      }),
    );
  });

  test("is used up by a reader that does not read", () => {
    const receive = new ReceiveCredit({ items: 100, bytes: 1000 }, undefined, flight);
    receive.open();
    let arrived = 0;
    for (; receive.arrived(1); arrived++) if (receive.hasMore) receive.more();
    expect(arrived).toBe(100);
  });
});

describe("a window without a number of values", () => {
  /** Makes a reader whose producer always uses all credit. `read` returns the largest number of values that were ahead of the reader. */
  function reader() {
    let nowMs = 0;
    const credit = new ReceiveCredit(adaptiveWindow, () => nowMs);
    let window = credit.open().items;
    let unread = 0;
    return {
      read(count: number, costMs: number): number {
        let most = 0;
        for (let n = 0; n < count; n++) {
          while (credit.outstanding) {
            expect(credit.arrived(0)).toBe(true);
            unread++;
          }
          most = Math.max(most, unread);
          nowMs += costMs;
          unread--;
          window += (credit.taken(0)?.items ?? 0) - 1;
          expect(window).toBe(unread + credit.left.items);
        }
        return most;
      },
    };
  }

  test("grows to its maximum for a fast reader", () => {
    const { read } = reader();
    expect(read(8, 0.0001)).toBe(defaultWindow.items);
    expect(read(5000, 0.0001)).toBe(adaptiveItemsMax);
  });

  test.each([0.25, 1, 1000])("keeps 16 values for a reader that needs %d ms for each", (costMs) => {
    expect(reader().read(5000, costMs)).toBe(defaultWindow.items);
  });

  test("shrinks again when the reader becomes slower", () => {
    const { read } = reader();
    read(5000, 0.0001);
    read(5000, 1);
    expect(read(100, 1)).toBe(defaultWindow.items);
  });

  test("settles at half a window for each millisecond", () => {
    const { read } = reader();
    read(5000, 0.01);
    const most = read(5000, 0.01);
    expect(most).toBeGreaterThanOrEqual(128);
    expect(most).toBeLessThanOrEqual(512);
  });

  test("never grants less than nothing, whatever the clock says", () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 20, noNaN: true }), { maxLength: 400 }), (costs) => {
        let nowMs = 0;
        const credit = new ReceiveCredit(adaptiveWindow, () => nowMs);
        let [granted, taken] = [credit.open().items, 0];
        for (const costMs of costs) {
          expect(credit.arrived(0)).toBe(true);
          nowMs += costMs;
          const items = credit.taken(0)?.items ?? 0;
          expect(items).toBeGreaterThanOrEqual(0);
          granted += items;
          taken++;
          expect(granted - taken).toBeLessThanOrEqual(adaptiveItemsMax);
          expect(credit.outstanding).toBe(true);
        }
      }),
    );
  });
});
