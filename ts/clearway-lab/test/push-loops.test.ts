// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the closed loop of the published experiment, and chained hops.
import { describe, expect, test, vi } from "vitest";
import { openChain } from "../src/push/chains.js";
import { pushMechanism, Receiver } from "../src/push/measure.js";
import { emit, type Load, type PushEvent, produce } from "../src/push/pace.js";
import { sameThread } from "../src/push/same-thread.js";

const closed: Load = { count: 5, perSecond: 0, payloadBytes: 8, loop: "closed" };
const counter = () => new Int32Array(new SharedArrayBuffer(4));
const params = { warmUpMs: 1, count: 20, perSecond: 0, payloadBytes: 8, receiver: "idle", loop: "closed" };
const fixture = { httpUrl: "", echoPort: 0, idlePort: 0, feedUrl: "", filePath: "" };

describe("a closed loop", () => {
  test("stamps every event when it is handed over", async () => {
    const events: PushEvent[] = [];
    const sent = counter();
    await emit(closed, sent, (event) => events.push(event));
    expect(events.map(({ i }) => i)).toEqual([0, 1, 2, 3, 4]);
    expect(events.every(({ t }, at) => at === 0 || t >= events[at - 1]!.t)).toBe(true);
    expect(sent[0]).toBe(5);
  });

  test("yields the same events to mechanisms that pull", async () => {
    const indexes: number[] = [];
    for await (const { i } of produce({ ...closed, perSecond: 1000 }, counter())) indexes.push(i);
    expect(indexes).toEqual([0, 1, 2, 3, 4]);
  });

  test("sends no event before the one in front of it was handed over", async () => {
    let open = 0;
    await emit({ ...closed, perSecond: 1000 }, counter(), () => {
      open++;
      expect(open).toBe(1);
      open--;
    });
  });

  test("back to back gives no backlog where threads share no memory", async () => {
    vi.stubGlobal("SharedArrayBuffer", undefined);
    try {
      const { values, result } = await sameThread["lock"]!({ params, fixture });
      expect(result).toEqual({ received: 20, outOfOrder: 0 });
      expect(values).toHaveProperty("throughput");
      expect(values).not.toHaveProperty("backlogMax");
    } finally {
      vi.unstubAllGlobals();
    }
  });

  test("back to back gives a delay for every event, and the backlog", async () => {
    const { samples, values, result } = await sameThread["async-queue"]!({ params, fixture });
    expect(samples["latency"]?.ns).toHaveLength(20);
    expect(values["backlogMax"]).toEqual({ unit: "events", value: 20 });
    expect(result).toEqual({ received: 20, outOfOrder: 0 });
  });

  test("gives no delay to the events of the firehose, which share one time", async () => {
    const { loop: _, ...firehose } = params;
    const { samples } = await sameThread["direct"]!({ params: firehose, fixture });
    expect(samples).toEqual({});
  });
});

describe("chained hops", () => {
  test.each([0, 1, 2, 3])(
    "pass on every event in order through %i hops, and close after the last one",
    async (hops) => {
      const load: Load = { ...closed, count: 50 };
      const receiver = new Receiver(load);
      const chain = openChain(hops, receiver.receive, load.count);
      await emit(load, receiver.sent, chain.send);
      await chain.close();
      expect([receiver.received, receiver.outOfOrder]).toEqual([50, 0]);
    },
  );

  test("call the receiver within the sender's call if the only hop is a call", () => {
    const seen: number[] = [];
    openChain(1, ({ i }) => seen.push(i), 1).send({ i: 7, t: 0 });
    expect(seen).toEqual([7]);
    openChain(2, ({ i }) => seen.push(i), 1).send({ i: 8, t: 0 });
    expect(seen).toEqual([7]);
  });

  test("close their connection also after a failed run", async () => {
    let closedCount = 0;
    const mechanism = pushMechanism(async () => ({
      run: () => Promise.reject(new Error("the hop broke")),
      close: async () => {
        closedCount++;
      },
    }));
    await expect(mechanism({ params, fixture })).rejects.toThrow("the hop broke");
    expect(closedCount).toBe(1);
  });
});
