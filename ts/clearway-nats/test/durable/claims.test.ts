// SPDX-License-Identifier: MIT OR Apache-2.0
import type { JetStreamManager } from "@nats-io/jetstream";
import type { KV } from "@nats-io/kv";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Claims } from "../../src/durable/claims.js";
import { outstanding } from "../../src/durable/options.js";
import { Publisher } from "../../src/durable/publisher.js";
import { FakeConnection } from "../fixtures/fake-connection.js";
import { useFakeTimers, useRealTimers } from "../fixtures/fake-timers.js";

beforeEach(() => {
  useFakeTimers();
});
afterEach(() => {
  useRealTimers();
});

function setup(ackWaitMs = 1_000) {
  const connection = new FakeConnection();
  const deleted: number[] = [];
  const streams = {
    deleteMessage: async (_stream: string, seq: number) => {
      deleted.push(seq);
      return true;
    },
  };
  const manager = { streams } as unknown as JetStreamManager;
  const publisher = new Publisher(connection.nats, { ...outstanding, resendMs: 60_000 });
  const store = {} as KV;
  const claims = new Claims({ connection: connection.nats, manager, publisher, bucket: "bucket", store, ackWaitMs });
  // Only the timers of the claims remain.
  publisher.end();
  return { connection, claims, deleted };
}

describe("the claim of a call that has ended", () => {
  test("is deleted a minute later, because a server may deliver the call again until then", () => {
    const { claims, deleted } = setup();
    claims.release(1);
    vi.advanceTimersByTime(30_000);
    claims.release(2);
    vi.advanceTimersByTime(29_999);
    expect(deleted).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(deleted).toEqual([1]);
    vi.advanceTimersByTime(30_000);
    expect(deleted).toEqual([1, 2]);
  });

  test.each([
    [40_000, 80_000],
    [2 ** 31, 2 ** 31 - 1],
  ])("is not deleted earlier when the servers wait %i ms for a confirmation", (ackWaitMs, releasedMs) => {
    const { claims, deleted } = setup(ackWaitMs);
    claims.release(1);
    vi.advanceTimersByTime(releasedMs - 1);
    expect(deleted).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(deleted).toEqual([1]);
  });

  test.each(["disconnect", "reconnect"] as const)("is left to its age after a %s", async (status) => {
    const { connection, claims, deleted } = setup();
    claims.release(1);
    await connection.report(status);
    claims.release(2);
    vi.advanceTimersByTime(60_000);
    expect(deleted).toEqual([2]);
  });

  test("is left to its age when the process closes", () => {
    const { claims, deleted } = setup();
    claims.release(1);
    claims.close();
    vi.advanceTimersByTime(120_000);
    expect(deleted).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
