// SPDX-License-Identifier: MIT OR Apache-2.0
// Child processes, too: keys keep their process.
import { describe, expect, test } from "vitest";
import { gate, plainPool } from "../fixtures/pools.js";

/** Runs `make` while the pool's only worker is busy. Returns the order in which its calls were answered. */
async function orderOf(make: (call: (name: string, options?: { key?: string; priority?: number }) => void) => void) {
  const pool = plainPool();
  await pool.ready();
  const started = gate();
  const holder = new AbortController();
  const holding = pool
    .with({ signal: holder.signal, onProgress: () => started.tell() })
    .call.hold()
    .catch(() => {});
  await started.promise;
  const order: string[] = [];
  const calls: Promise<unknown>[] = [];
  make((name, options = {}) =>
    calls.push(
      pool
        .with(options)
        .call.echo(name)
        .then(() => order.push(name)),
    ),
  );
  holder.abort();
  await holding;
  await Promise.all(calls);
  return order;
}

describe("calls with a key", () => {
  test("neither overtake older calls without a key, nor are overtaken by them", async () => {
    const order = await orderOf((call) => {
      call("plain 1");
      call("key 2", { key: "k" });
      call("plain 3");
      call("key 4", { key: "k" });
      call("key 5", { key: "other" });
      call("plain 6");
    });
    expect(order).toEqual(["plain 1", "key 2", "plain 3", "key 4", "key 5", "plain 6"]);
  });

  test("do not starve a call without a key when they repeat", async () => {
    const pool = plainPool();
    await pool.ready();
    const { call } = pool.with({ key: "k" });
    let going = true;
    const again = async (): Promise<void> => {
      while (going) await Promise.all([call.spin(1), call.spin(1), call.spin(1)]);
    };
    const both = [again(), again()];
    await call.echo(0);
    expect(await pool.call.add(1, 2)).toBe(3);
    going = false;
    await Promise.all(both);
  });

  test("run first when their priority is higher", async () => {
    const order = await orderOf((call) => {
      call("plain");
      call("key", { key: "k", priority: 1 });
    });
    expect(order).toEqual(["key", "plain"]);
  });

  test("run one after the other when they share a key, even in a concurrent worker", async () => {
    const pool = plainPool({ concurrency: 4 });
    const events: string[] = [];
    const calls = [1, 2, 3, 4].map((each) => {
      const holder = new AbortController();
      const begun = gate();
      const ended = pool
        .with({
          key: "k",
          signal: holder.signal,
          onProgress: () => {
            events.push(`begins ${each}`);
            begun.tell();
          },
        })
        .call.hold()
        .catch(() => {});
      return { each, holder, begun, ended };
    });
    for (const { each, holder, begun, ended } of calls) {
      await begun.promise;
      await pool.ping();
      events.push(`ends ${each}`);
      holder.abort();
      await ended;
    }
    expect(events).toEqual([1, 2, 3, 4].flatMap((each) => [`begins ${each}`, `ends ${each}`]));
  });

  test("run concurrently in a concurrent worker when their keys differ", async () => {
    const pool = plainPool({ concurrency: 4 });
    const holder = new AbortController();
    const calls = ["a", "b", "c"].map((key) => {
      const begun = gate();
      const ended = pool
        .with({ key, signal: holder.signal, onProgress: () => begun.tell() })
        .call.hold()
        .catch(() => {});
      return { begun, ended };
    });
    await Promise.all(calls.map(({ begun }) => begun.promise));
    holder.abort();
    await Promise.all(calls.map(({ ended }) => ended));
  });
});
