// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import type { PoolCall } from "../../src/pool/call/call.js";
import type { CallOptions, PoolOptions } from "../../src/pool/options.js";
import { callSettingsOf, placeOfKey, settingsOf } from "../../src/pool/options.js";
import { Backlog } from "../../src/pool/schedule/backlog.js";

let lastId = 0;
/** What the backlog looks at, of a call. */
const call = (bytes = 0, options: CallOptions = {}): PoolCall => {
  const settings = callSettingsOf(options, settingsOf({ size: 4 }));
  return { id: ++lastId, priority: settings.priority, options: settings, bytes } as unknown as PoolCall;
};
const backlogOf = (queue: PoolOptions["queue"], size = 4): Backlog<PoolCall> =>
  new Backlog(settingsOf({ size, ...(queue && { queue }) }));

describe("the backlog", () => {
  test("counts items and bytes of what waits, over all its queues", () => {
    const backlog = backlogOf({});
    const calls = [call(10), call(20, { key: "a" }), call(30, { key: "b", priority: 1 })];
    for (const each of calls) backlog.add(each);
    expect([backlog.length, backlog.bytes]).toEqual([3, 60]);
    expect(backlog.take(backlog.queues[placeOfKey("a", 4)]!)).toBe(calls[1]);
    backlog.add(calls[1]!);
    for (const each of calls) backlog.remove(each);
    backlog.remove(calls[0]!);
    expect([backlog.length, backlog.bytes]).toEqual([0, 0]);
  });

  test("with wait, admits everything, and says when there is room again", async () => {
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

  test("with fail, refuses a call beyond its items or its bytes", () => {
    const backlog = backlogOf({ items: 2, bytes: 100, whenFull: "fail" });
    backlog.add(call(60));
    expect(() => backlog.admit(call(41))).toThrowError(expect.objectContaining({ code: "queue-full" }));
    expect(backlog.admit(call(40))).toBeUndefined();
    backlog.add(call(40));
    expect(() => backlog.admit(call())).toThrowError(expect.objectContaining({ code: "queue-full" }));
  });

  test("lets in a call that alone exceeds the bytes when nothing else waits", () => {
    expect(backlogOf({ bytes: 100, whenFull: "fail" }).admit(call(1000))).toBeUndefined();
  });

  test("with dropNewest, gives up the new call", () => {
    const backlog = backlogOf({ items: 1, whenFull: "dropNewest" });
    backlog.add(call());
    const late = call();
    expect(backlog.admit(late)).toBe(late);
  });

  test("with dropOldest, gives up the oldest of the lowest priority, keyed or not", () => {
    const backlog = backlogOf({ items: 3, whenFull: "dropOldest" });
    const keyed = call(0, { key: "a", priority: -1 });
    for (const each of [call(), keyed, call(0, { priority: -1 })]) backlog.add(each);
    expect(backlog.admit(call())).toBe(keyed);
  });
});
