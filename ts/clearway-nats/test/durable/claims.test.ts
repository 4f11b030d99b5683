// SPDX-License-Identifier: MIT OR Apache-2.0
import type { JetStreamManager } from "@nats-io/jetstream";
import type { KV } from "@nats-io/kv";
import { ClearwayError } from "clearway/remote";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Claims } from "../../src/durable/claims.js";
import { outstanding } from "../../src/durable/options.js";
import { Publisher } from "../../src/durable/publisher.js";
import type { LossListener } from "../../src/durable/storage.js";
import { useFakeTimers, useRealTimers } from "../fixtures/clocks.js";
import { FakeConnection } from "../fixtures/fake-connection.js";

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
  const entries = new Map<string, { revision: number; string: () => string }>();
  const store = { get: async (key: string) => entries.get(key) ?? null } as unknown as KV;
  let lose = (): void => {};
  const storage = {
    onLost: (listener: LossListener) => {
      lose = () => listener(new ClearwayError("storage-lost", "lost"));
      return () => {};
    },
  };
  const parts = { connection: connection.nats, manager, publisher, bucket: "bucket", store, storage, ackWaitMs };
  const claims = new Claims(parts);
  // Only the timers of the claims remain.
  publisher.end();
  return { connection, claims, deleted, entries, store, lose: () => lose() };
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

  test("is forgotten when the servers have lost it: another claim may have its place", () => {
    const { claims, deleted, lose } = setup();
    claims.release(1);
    lose();
    vi.advanceTimersByTime(60_000);
    expect(deleted).toEqual([]);
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

describe("the claim of a call that is given back", () => {
  test("is not waited for when the connection is lost", async () => {
    const { connection, claims, store } = setup();
    store.get = () => new Promise(() => {});
    const withdrawn = expect(claims.withdraw("call", "run")).rejects.toThrow("interrupted");
    await connection.report("disconnect");
    await withdrawn;
  });

  test("is deleted only if it is that run's own", async () => {
    const { claims, deleted, entries } = setup();
    entries.set("other", { revision: 1, string: () => "another run" });
    entries.set("own", { revision: 2, string: () => "run" });
    for (const call of ["none", "other", "own"]) await claims.withdraw(call, "run");
    expect(deleted).toEqual([2]);
  });
});
