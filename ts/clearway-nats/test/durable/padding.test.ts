// SPDX-License-Identifier: MIT OR Apache-2.0
import { jetstreamManager } from "@nats-io/jetstream";
import { describe, expect, test } from "vitest";
import { namesOf } from "../../src/durable/names.js";
import { alignedBytes, paddedHeaders } from "../../src/durable/padding.js";
import { noServer, startServer } from "../server/nats-server.js";
import { caller, connection } from "./harness.js";

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
