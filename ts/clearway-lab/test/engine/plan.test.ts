// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { furtherMs, nextSession, type Progress, pairsNeeded, verdictNow } from "../../src/engine/plan.js";

const progress = (...logs: number[]): Progress => ({ pairsMin: 4, pairsMax: 12, logs });
const DECIDED = progress(0.3, 0.31, 0.3, 0.31);
/** Needs one or two further pairs. */
const CLOSE = progress(0.06, 0.09, 0.07, 0.1);
const HOPELESS = progress(-0.5, 0.5, -0.4, 0.4);
const session = (name: string, pairMs: number, ...comparisons: Progress[]) => ({ name, pairMs, comparisons });

test("sessions take turns until each has its least number of pairs", () => {
  const sessions = [session("a", 100, progress(0.1)), session("b", 100, progress()), session("c", 100, DECIDED)];
  expect(nextSession(sessions, 10_000)!.name).toBe("b");
});

test("if the time is too short for all, the session that is complete soonest comes first", () => {
  const sessions = [session("long", 5000, progress()), session("short", 100, progress(0.1))];
  expect(nextSession(sessions, 1000)!.name).toBe("short");
});

test("afterwards, the time goes to the comparison that needs the least of it", () => {
  const sessions = [session("dear", 4000, CLOSE), session("cheap", 500, CLOSE), session("done", 1, DECIDED)];
  expect(nextSession(sessions, 10_000)!.name).toBe("cheap");
});

test("a session that would not be decided in the time that is left is not measured", () => {
  expect(nextSession([session("dear", 4000, CLOSE)], 3000)).toBeUndefined();
});

test("decided, failed and hopeless comparisons need no pair", () => {
  expect(pairsNeeded(DECIDED)).toBe(0);
  expect(pairsNeeded({ ...progress(), failed: "not installed" })).toBe(0);
  expect(pairsNeeded(HOPELESS)).toBe(0);
  expect(nextSession([session("a", 1, DECIDED, HOPELESS)], 10_000)).toBeUndefined();
});

test("a comparison with a limit needs pairs until its interval leaves the limit out", () => {
  expect(pairsNeeded({ ...DECIDED, limit: 1.5 })).toBe(0);
  expect(pairsNeeded({ ...DECIDED, limit: 1.37 })).toBeGreaterThan(0);
  expect(pairsNeeded({ ...DECIDED, limit: 1.2 })).toBe(0);
});

test("an open comparison needs no pair after its greatest number of them", () => {
  expect(pairsNeeded({ ...CLOSE, pairsMax: 4 })).toBe(0);
});

test("a comparison has no verdict before its least number of pairs", () => {
  expect(verdictNow(progress(0.3, 0.31, 0.3))).toBe("open");
  expect(verdictNow(DECIDED)).toBe("slower");
});

test("an open comparison says how much time would decide it, unless no hour would", () => {
  expect(furtherMs(CLOSE, 1000)).toBe(pairsNeeded(CLOSE) * 1000);
  expect(furtherMs(progress(), 1000)).toBe(4000);
  expect(furtherMs(progress(-2, 2, -2, 2), 1000)).toBeUndefined();
});
