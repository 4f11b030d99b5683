// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import type { PoolCall } from "../../src/pool/call/call.js";
import type { CallOptions, PoolOptions } from "../../src/pool/options.js";
import { callSettingsOf, settingsOf } from "../../src/pool/options.js";
import { Backlog } from "../../src/pool/schedule/backlog.js";
import { workerIndexOf } from "../../src/pool/worker-of-key.js";

let lastId = 0;
/** Creates a call with the properties that the backlog reads. */
const call = (bytes = 0, options: CallOptions = {}): PoolCall => {
  const settings = callSettingsOf(options, settingsOf({ size: 4 }));
  return { id: ++lastId, priority: settings.priority, options: settings, bytes } as unknown as PoolCall;
};
const backlogOf = (queue: PoolOptions["queue"], size = 4): Backlog =>
  new Backlog(settingsOf({ size, ...(queue && { queue }) }));

describe("the backlog", () => {
  test("counts the items and bytes of waiting calls, over all its queues", () => {
    const backlog = backlogOf({});
    const calls = [call(10), call(20, { key: "a" }), call(30, { key: "b", priority: 1 })];
    for (const each of calls) backlog.add(each);
    expect([backlog.length, backlog.bytes]).toEqual([3, 60]);
    expect(backlog.take(backlog.queues[workerIndexOf("a", 4)]!)).toBe(calls[1]);
    backlog.add(calls[1]!);
    for (const each of calls) backlog.remove(each);
    backlog.remove(calls[0]!);
    expect([backlog.length, backlog.bytes]).toEqual([0, 0]);
  });

  test("with wait, admits every call, and reports when there is room again", async () => {
    const backlog = backlogOf({ items: 1 });
    const first = call();
    await backlog.room();
    backlog.add(first);
    expect(backlog.full).toBe(true);
    expect(backlog.admit(call())).toBeUndefined();
    let roomy = false;
    const room = backlog.room().then(() => {
      roomy = true;
    });
    await Promise.resolve();
    expect(roomy).toBe(false);
    backlog.remove(first);
    await room;
  });

  test("with fail, refuses a call over the limit of items or bytes", () => {
    const backlog = backlogOf({ items: 2, bytes: 100, whenFull: "fail" });
    backlog.add(call(60));
    expect(() => backlog.admit(call(41))).toThrowError(expect.objectContaining({ code: "queue-full" }));
    expect(backlog.admit(call(40))).toBeUndefined();
    backlog.add(call(40));
    expect(() => backlog.admit(call())).toThrowError(expect.objectContaining({ code: "queue-full" }));
  });

  test("admits a call larger than the limit of bytes when no other call waits", () => {
    expect(backlogOf({ bytes: 100, whenFull: "fail" }).admit(call(1000))).toBeUndefined();
  });

  test("with dropNewest, drops the new call", () => {
    const backlog = backlogOf({ items: 1, whenFull: "dropNewest" });
    backlog.add(call());
    const late = call();
    expect(backlog.admit(late)).toBe(late);
  });

  test("with dropOldest, drops the oldest call of the lowest priority, with or without a key", () => {
    const backlog = backlogOf({ items: 3, whenFull: "dropOldest" });
    const keyed = call(0, { key: "a", priority: -1 });
    for (const each of [call(), keyed, call(0, { priority: -1 })]) backlog.add(each);
    expect(backlog.admit(call())).toBe(keyed);
  });
});
