// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { Lease, type UseOutcome } from "../../src/resource/resource.js";

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
