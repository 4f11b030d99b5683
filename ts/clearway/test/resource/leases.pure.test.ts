// SPDX-License-Identifier: MIT OR Apache-2.0
import { beforeEach, describe, expect, test, vi } from "vitest";
import {
  type Held,
  Lease,
  Leases,
  type ResourceDefinition,
  resource,
  type UseOutcome,
} from "../../src/resource/resource.js";
import { useFakeTimers } from "../fixtures/fake-timers.js";

beforeEach(() => useFakeTimers());

/** Returns a resource that logs its life: `open 1`, `check 1`, `close 1`, `cancel 1`. `leases` are new ones, of any resource. */
function logged(more: Partial<ResourceDefinition<number>> = {}) {
  const log: string[] = [];
  let opened = 0;
  const thing = resource<number>({
    open: () => {
      log.push(`open ${++opened}`);
      return opened;
    },
    check: (value) => {
      log.push(`check ${value}`);
      return true;
    },
    close: (value) => void log.push(`close ${value}`),
    cancel: (value) => void log.push(`cancel ${value}`),
    idleMs: 1000,
    checkAfterMs: 100,
    ...more,
  });
  return { log, thing, leases: new Leases({ now: () => Date.now() }) };
}

async function use(leases: Leases, thing: ReturnType<typeof logged>["thing"], outcome: Parameters<Held["release"]>[0]) {
  const held = await leases.hold({ thing });
  await held.release(outcome);
  return held.values["thing"];
}

test("an instance of a class with private fields can be a resource", async () => {
  class Database {
    readonly #log: string[];
    constructor(log: string[]) {
      this.#log = log;
    }
    open(): string {
      this.#log.push("open");
      return "connection";
    }
    check(): boolean {
      return this.#log.push("check") > 0;
    }
    close(): void {
      this.#log.push("close");
    }
    cancel(): void {
      this.#log.push("cancel");
    }
  }
  const log: string[] = [];
  const { leases } = logged();
  const thing = resource(new Database(log)) as never;
  expect(await use(leases, thing, "ok")).toBe("connection");
  await vi.advanceTimersByTimeAsync(1_000);
  const held = await leases.hold({ thing });
  held.cancel();
  await held.release("cancelled");
  expect(log).toEqual(["open", "check", "cancel", "close"]);
});

describe("leases", () => {
  test("are opened lazily, and reused after a release", async () => {
    const { log, thing, leases } = logged();
    expect(log).toEqual([]);
    expect(await use(leases, thing, "ok")).toBe(1);
    expect(await use(leases, thing, "ok")).toBe(1);
    expect(log).toEqual(["open 1"]);
    expect(leases.live).toBe(1);
  });

  test("give each concurrent holder its own value", async () => {
    const { thing, leases } = logged();
    const [one, two] = await Promise.all([leases.hold({ thing }), leases.hold({ thing })]);
    expect([one!.values["thing"], two!.values["thing"]]).toEqual([1, 2]);
    expect(leases.live).toBe(2);
  });

  test("are reused last in, first out, so that others reach their idle time", async () => {
    const { log, thing, leases } = logged();
    const [one, two] = await Promise.all([leases.hold({ thing }), leases.hold({ thing })]);
    await one!.release("ok");
    await two!.release("ok");
    for (let turn = 0; turn < 5; turn++) {
      await vi.advanceTimersByTimeAsync(300);
      expect(await use(leases, thing, "ok")).toBe(2);
    }
    expect(log).toContain("close 1");
    expect(log).not.toContain("close 2");
  });

  test("are checked after idling, and replaced when the check fails", async () => {
    const { log, thing, leases } = logged({ check: (value) => value !== 1 });
    await use(leases, thing, "ok");
    await vi.advanceTimersByTimeAsync(200);
    expect(await use(leases, thing, "ok")).toBe(2);
    expect(log).toEqual(["open 1", "close 1", "open 2"]);
    expect(leases.live).toBe(1);
  });

  test.each([
    ["throws", () => Promise.reject(new Error("gone"))],
    ["returns a value other than true", () => undefined as unknown as boolean],
  ])("count a check that %s as failed", async (_how, check) => {
    const { log, thing, leases } = logged({ check });
    await use(leases, thing, "failed");
    expect(await use(leases, thing, "ok")).toBe(2);
    expect(log).toEqual(["open 1", "close 1", "open 2"]);
  });

  test("are closed after their idle time, and not before", async () => {
    const { log, thing, leases } = logged();
    await use(leases, thing, "ok");
    await vi.advanceTimersByTimeAsync(900);
    await use(leases, thing, "ok");
    await vi.advanceTimersByTimeAsync(999);
    expect(log).toEqual(["open 1", "check 1"]);
    await vi.advanceTimersByTimeAsync(1);
    expect(log).toEqual(["open 1", "check 1", "close 1"]);
    expect(leases.live).toBe(0);
  });

  test("are kept forever with an infinite idle time", async () => {
    const { log, thing, leases } = logged({ idleMs: Number.POSITIVE_INFINITY });
    await use(leases, thing, "ok");
    await vi.advanceTimersByTimeAsync(1e10);
    expect(log).toEqual(["open 1"]);
  });

  test("treat an idle time beyond 32 bits as long", async () => {
    const { log, thing, leases } = logged({ idleMs: 2 ** 40 });
    await use(leases, thing, "ok");
    await vi.advanceTimersByTimeAsync(1000);
    expect(log).toEqual(["open 1"]);
  });

  test("are closed at their maximum age, whether idle or on release", async () => {
    const { log, thing, leases } = logged({ maxAgeMs: 500, idleMs: Number.POSITIVE_INFINITY });
    await use(leases, thing, "ok");
    await vi.advanceTimersByTimeAsync(500);
    const held = await leases.hold({ thing });
    expect(held.values["thing"]).toBe(2);
    await vi.advanceTimersByTimeAsync(500);
    await held.release("ok");
    expect(log).toEqual(["open 1", "close 1", "open 2", "close 2"]);
  });

  test("are cancelled at once, and closed after the cancel has settled", async () => {
    let through!: () => void;
    const { log, thing, leases } = logged({
      cancel: () => {
        log.push("cancel");
        return new Promise<void>((resolve) => {
          through = resolve;
        });
      },
    });
    const held = await leases.hold({ thing });
    held.cancel();
    held.cancel();
    expect(log).toEqual(["open 1", "cancel"]);
    const released = held.release("cancelled");
    await vi.advanceTimersByTimeAsync(10);
    expect(log).toEqual(["open 1", "cancel"]);
    through();
    await released;
    expect(log).toEqual(["open 1", "cancel", "close 1"]);
  });

  test("stop waiting for a close or a cancel that hangs", async () => {
    const hangs = (): Promise<void> => new Promise(() => {});
    const { thing, leases } = logged({ close: hangs, cancel: hangs });
    const held = await leases.hold({ thing });
    held.cancel();
    const settled = vi.fn();
    void held.release("cancelled").then(settled);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(settled).toHaveBeenCalled();
    expect(leases.live).toBe(0);
  });

  test("ignore errors of close, check and cancel", async () => {
    const throws = (): never => {
      throw new Error("no");
    };
    const { thing, leases } = logged({ close: throws, cancel: throws, check: throws });
    const held = await leases.hold({ thing });
    held.cancel();
    await held.release("cancelled");
    await use(leases, thing, "failed");
    expect(await use(leases, thing, "ok")).toBe(3);
    await leases.shutDown();
    expect(leases.live).toBe(0);
  });

  test("fail with the name and cause of a value that cannot be opened, and release the others", async () => {
    const { log, thing, leases } = logged();
    const cause = new RangeError("no route");
    const broken = resource({ open: () => Promise.reject(cause) });
    await expect(leases.hold({ thing, broken })).rejects.toMatchObject({
      code: "resource-failed",
      message: 'the resource "broken" could not be opened: no route',
      cause,
    });
    expect(await use(leases, thing, "ok")).toBe(1);
    expect(log).toEqual(["open 1"]);
  });

  test("that are being opened, or whose cancel runs, are closed before a shutdown ends", async () => {
    let letOpen = (): void => {};
    let letCancel = (): void => {};
    const { log, thing, leases } = logged({
      cancel: () => new Promise<void>((resolve) => (letCancel = resolve)),
    });
    const slow = resource({
      open: () => new Promise<number>((resolve) => (letOpen = () => resolve(7))),
      close: (value) => void log.push(`close ${value}`),
    });
    const opening = leases.hold({ slow }).then((held) => held.release("ok"));
    const held = await leases.hold({ thing });
    held.cancel();
    void held.release("cancelled");
    const shut = leases.shutDown().then(() => log.push("shut"));
    letOpen();
    await opening;
    letCancel();
    await shut;
    expect(log).toEqual(["open 1", "close 7", "close 1", "shut"]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("are closed on shutdown when idle, and otherwise on release", async () => {
    const { log, thing, leases } = logged();
    const [one, two] = await Promise.all([leases.hold({ thing }), leases.hold({ thing })]);
    await one!.release("ok");
    await leases.shutDown();
    expect(log).toEqual(["open 1", "open 2", "close 1"]);
    await two!.release("ok");
    expect(log).toEqual(["open 1", "open 2", "close 1", "close 2"]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("resource()", () => {
  test.each<[object, string]>([
    [{}, "resource.open must be a function"],
    [{ open: () => 1, idleMs: -1 }, "resource.idleMs must be a number, 0 or more: resource.idleMs=-1"],
    [{ open: () => 1, maxAgeMs: Number.NaN }, "resource.maxAgeMs"],
    [{ open: () => 1, checkAfterMs: "1" }, 'resource.checkAfterMs="1"'],
  ])("refuses %o", (definition, message) => {
    expect(() => resource(definition as unknown as ResourceDefinition<number>)).toThrow(message);
  });
});

const times = { maxAgeMs: 1000, checkAfterMs: 100 };

/** Returns an idle lease that was opened at 0 and released at `at`. */
function idle(at: number, canCheck = true, outcome: UseOutcome = "ok"): Lease {
  const lease = new Lease(times, canCheck, 0);
  expect(lease.release(outcome, at)).toBe("keep");
  return lease;
}

describe("a released lease", () => {
  test.each([
    { rested: 0, canCheck: true, action: "use" },
    { rested: 99, canCheck: true, action: "use" },
    { rested: 100, canCheck: true, action: "check" },
    { rested: 100, canCheck: false, action: "use" },
    { rested: 989, canCheck: true, action: "check" },
    { rested: 990, canCheck: true, action: "close" },
    { rested: 990, canCheck: false, action: "close" },
  ])("after $rested ms of idling (check: $canCheck): $action", ({ rested, canCheck, action }) => {
    expect(idle(10, canCheck).take(10 + rested)).toBe(action);
  });

  test("is checked every time with checkAfterMs: 0", () => {
    const lease = new Lease({ maxAgeMs: 1000, checkAfterMs: 0 }, true, 0);
    lease.release("ok", 5);
    expect(lease.take(5)).toBe("check");
  });

  test("is used when its check succeeds, and closed for good when it fails", () => {
    const good = idle(0);
    expect(good.take(200)).toBe("check");
    expect(good.checked(true)).toBe("use");
    const bad = idle(0);
    expect(bad.take(200)).toBe("check");
    expect(bad.checked(false)).toBe("close");
    expect(bad.take(200)).toBe("close");
    expect(bad.expire()).toBe("nothing");
  });
});

describe("releasing a lease", () => {
  test.each([
    { outcome: "ok", at: 0, canCheck: true, action: "keep" },
    { outcome: "ok", at: 0, canCheck: false, action: "keep" },
    { outcome: "ok", at: 999, canCheck: true, action: "keep" },
    { outcome: "ok", at: 1000, canCheck: true, action: "close" },
    { outcome: "failed", at: 0, canCheck: true, action: "keep" },
    { outcome: "failed", at: 0, canCheck: false, action: "close" },
    { outcome: "failed", at: 1000, canCheck: true, action: "close" },
    { outcome: "cancelled", at: 0, canCheck: true, action: "close" },
    { outcome: "cancelled", at: 0, canCheck: false, action: "close" },
  ] as const)("$outcome at $at ms (check: $canCheck): $action", ({ outcome, at, canCheck, action }) => {
    expect(new Lease(times, canCheck, 0).release(outcome, at)).toBe(action);
  });

  test("after a failed task makes the next take check it, and then trust it again", () => {
    const lease = idle(0, true, "failed");
    expect(lease.take(1)).toBe("check");
    expect(lease.checked(true)).toBe("use");
    expect(lease.release("ok", 2)).toBe("keep");
    expect(lease.take(3)).toBe("use");
  });
});

describe("the end of a lease's idle time", () => {
  test("closes it when it is idle", () => {
    expect(idle(0).expire()).toBe("close");
  });

  test("does nothing during a use, nor a second time", () => {
    const lease = new Lease(times, true, 0);
    expect(lease.expire()).toBe("nothing");
    lease.release("ok", 0);
    expect(lease.expire()).toBe("close");
    expect(lease.expire()).toBe("nothing");
  });
});
