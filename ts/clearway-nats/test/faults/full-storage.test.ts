// SPDX-License-Identifier: MIT OR Apache-2.0
import { DiscardPolicy, jetstream, jetstreamManager, RetentionPolicy, StorageType } from "@nats-io/jetstream";
import { describe, expect, test } from "vitest";
import { namesOf } from "../../src/durable/names.js";
import { alignedBytes, paddedHeaders } from "../../src/durable/streams.js";
import { caller, connection, logFile, serve } from "../durable/harness.js";
import { noServer, startServer } from "../server/nats-server.js";

const full = { name: "ClearwayError", code: "queue-full" };

describe.skipIf(noServer)("when callers fill the storage of the servers", () => {
  test.each([
    ["file", 20_000, 2_000_000, {}],
    ["memory", 20_000, 2_000_000, {}],
    ["file", 1, 500_000, {}],
    ["file", 50_000, 2_000_000, { objectBytesMin: 1_000 }],
  ] as const)(
    "the queue leaves room for claims and outcomes, and drains (%s, %i bytes)",
    async (storage, size, storageBytesMax, more) => {
      const log = logFile();
      const server = await startServer({ storageBytesMax });
      const nats = await connection(server.url);
      const work = await caller(nats, { call: { storage, ...more } });
      const ids: string[] = [];
      const line = (): string => `${ids.length} ${"x".repeat(size)}`;
      for (;;) {
        try {
          ids.push(await work.submit("effect", [log.path, line()]));
        } catch (reason) {
          expect(reason).toMatchObject(full);
          break;
        }
      }
      const worker = await serve(nats, { idempotent: [], serve: more });
      const outcomes = await Promise.all(ids.map((id) => work.result<string>(id)));
      expect(outcomes.map((each) => Number.parseInt(each, 10))).toEqual(ids.map((_, n) => n));
      expect(log.lines()).toHaveLength(ids.length);
      // The worker counts an answer once the servers have confirmed it. The caller may read it before.
      await expect.poll(() => worker.stats()).toMatchObject({ answered: ids.length, interrupted: 0 });
    },
  );
});

test.skipIf(noServer)(
  "a queue whose maker has died before it had its limit gets it from the next process",
  async () => {
    const nats = await connection((await startServer()).url);
    const manager = await jetstreamManager(nats);
    const { calls, callSubjects } = namesOf("work", "0");
    await manager.streams.add({
      name: calls,
      description: "clearway durable calls without a limit yet, partitions: 3",
      subjects: [callSubjects],
      retention: RetentionPolicy.Workqueue,
      discard: DiscardPolicy.New,
      max_bytes: 2 ** 22,
    });
    await caller(nats);
    const { config } = await manager.streams.info(calls);
    expect(config).toMatchObject({ max_bytes: 2 ** 20, description: "clearway durable calls, partitions: 3" });
  },
);

describe.skipIf(noServer)("when others fill the storage of the servers", () => {
  test("a call without a claim is given back, an outcome waits, and neither runs twice", async () => {
    const log = logFile();
    const server = await startServer({ storageBytesMax: 2_000_000 });
    const nats = await connection(server.url);
    const worker = await serve(nats, { idempotent: [], pool: { size: 1 } });
    const work = await caller(nats, { call: { resendMs: 200 } });
    const outcomes = [work.call.held(log.path, "outcome", log.beside("gate"))];
    await log.until((lines) => lines.includes("begun outcome"));
    // Waits at the servers.
    outcomes.push(work.call.effect(log.path, "claim"));
    await expect.poll(() => work.stats().unconfirmed).toBe(0);

    const manager = await jetstreamManager(nats);
    await manager.streams.add({ name: "others", subjects: ["others"], storage: StorageType.File });
    const filled = async (bytes: number): Promise<void> => {
      const others = jetstream(nats);
      while (await others.publish("others", new Uint8Array(bytes)).catch(() => undefined));
    };
    await filled(100_000);
    await filled(1);
    await expect(work.call.add(1, 2)).rejects.toMatchObject(full);
    await expect(work.submit("add", [1, 2])).rejects.toMatchObject(full);
    // The first process waits with its outcome. The other one gets the second call.
    const other = await serve(await connection(server.url), { idempotent: [] });
    log.create("gate");
    await expect.poll(() => worker.errors).toMatchObject([full]);
    await expect.poll(() => other.stats().givenBack).toBeGreaterThanOrEqual(1);
    expect(work.stats().failed).toBe(1);
    expect(other.errors[0]).toMatchObject(full);
    await manager.streams.delete("others");
    await expect(Promise.all(outcomes)).resolves.toEqual(["outcome", "claim"]);
    expect(log.lines()).toEqual(["begun outcome", "ended outcome", "claim"]);
    expect(other.stats()).toMatchObject({ interrupted: 0 });
  });
});

const names = namesOf("work", "0");

test("a limit of bytes is aligned, and is not 0", () => {
  expect([1, 256, 511, 1_000].map(alignedBytes)).toEqual([256, 256, 256, 768]);
});

test("a call has no padding when the queue has no limit of its bytes", () => {
  const settings = { queue: {}, storage: "file" } as const;
  expect(paddedHeaders("id", "subject", new Uint8Array(1), settings).keys()).toEqual(["Nats-Msg-Id"]);
});

describe.skipIf(noServer)("a full queue", () => {
  test.each(["file", "memory"] as const)("refuses calls of any size, and drops none (%s)", async (storage) => {
    const nats = await connection((await startServer()).url);
    const work = await caller(nats, { call: { storage, queue: { bytes: 100_000 } } });
    const manager = await jetstreamManager(nats);
    let stored = 0;
    let refused = 0;
    for (let size = 0; refused < 300; size++) {
      const options = size % 2 ? { id: "i".repeat(1 + (size % 100)) + size } : { key: size };
      const ok = await work.submit("echo", ["x".repeat((size * 7) % 900)], options).catch(() => undefined);
      if (ok === undefined) refused++;
      else stored++;
    }
    const { state } = await manager.streams.info(names.calls);
    expect(state).toMatchObject({ messages: stored, first_seq: 1 });
    expect(state.bytes % 256).toBe(0);
    expect(state.bytes).toBe(alignedBytes(100_000));
  });
});
