// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { namesOf } from "../../src/durable/names.js";
import { caller, connection, serve } from "../durable/harness.js";
import { logFile } from "../fixtures/log-file.js";
import { startCluster } from "../server/cluster.js";
import { noServer } from "../server/nats-server.js";

describe.skipIf(noServer)("durable calls on a cluster of three servers", () => {
  test("are all answered, with at most one effect each, when the leader of their queue is killed", async () => {
    const log = logFile();
    const cluster = await startCluster();
    const replicas = { replicas: 3 } as const;
    await serve(await connection(cluster.urls), { serve: { ...replicas, ackWaitMs: 2_000 } });
    const work = await caller(await connection(cluster.urls), { call: { ...replicas, resendMs: 500 } });
    const { calls } = namesOf("work", "0");
    let settled = 0;
    let killed: Promise<void> | undefined;
    const one = async (n: number): Promise<unknown> => {
      try {
        return n % 2 === 0 ? await work.call.add(n, 1) : await work.call.effect(log.path, String(n));
      } catch (reason) {
        return (reason as { code: string }).code;
      } finally {
        if (++settled === 40) killed = cluster.leaderOf(calls).then((leader) => leader.kill());
      }
    };
    const outcomes = await Promise.all(Array.from({ length: 200 }, (_, n) => one(n)));
    await killed;
    const lines = log.lines();
    for (const [n, outcome] of outcomes.entries()) {
      if (n % 2 === 0) expect(outcome).toBe(n + 1);
      else {
        expect([String(n), "interrupted"]).toContain(outcome);
        expect(lines.filter((line) => line === String(n)).length).toBeLessThanOrEqual(1);
      }
    }
    // Two of three are enough for new calls.
    await expect(work.call.add(40, 2)).resolves.toBe(42);
  });
});
