// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { furtherMs, nextPair, type Progress, pairsNeeded, verdictNow } from "../../src/engine/plan.js";

const progress = (...logs: number[]): Progress => ({ pairsMin: 4, pairsMax: 12, logs });
const DECIDED = progress(0.3, 0.31, 0.3, 0.31);
/** Needs one or two further pairs. */
const CLOSE = progress(0.06, 0.09, 0.07, 0.1);
const HOPELESS = progress(-0.5, 0.5, -0.4, 0.4);
/** A session whose comparisons take `partMs` each in a pair, and whose arms start at once. */
const session = (name: string, partMs: number, ...comparisons: Progress[]) => ({
  ...{ name, startMs: 0, comparisons: comparisons.map((each) => ({ ...each, ownMs: partMs })) },
});
const next = (sessions: ReturnType<typeof session>[], leftMs: number) => {
  const found = nextPair(sessions, leftMs);
  return found && [(found.session as (typeof sessions)[number]).name, found.comparisons.length];
};

test("sessions take turns until each has its least number of pairs", () => {
  const sessions = [session("a", 100, progress(0.1)), session("b", 100, progress()), session("c", 100, DECIDED)];
  expect(next(sessions, 10_000)).toEqual(["b", 1]);
});

test("if the time is too short for all, a session that has begun is completed before another begins", () => {
  const sessions = [
    session("quick", 100, progress()),
    session("begun", 300, progress(0.1)),
    session("long", 5000, progress()),
  ];
  expect(next(sessions, 1000)).toEqual(["begun", 1]);
  expect(next(sessions, 950)).toEqual(["quick", 1]);
});

test("a session is begun only with the comparisons that can have their least number of pairs in the time", () => {
  expect(next([session("a", 100, progress(), progress(), progress())], 900)).toEqual(["a", 2]);
  expect(next([session("a", 100, progress())], 400)).toBeUndefined();
});

test("a run begins, however short its time is, because the first pair shows what one takes", () => {
  const unknown = { name: "a", comparisons: [progress(), progress()] };
  expect(nextPair([unknown], 100)?.comparisons).toHaveLength(2);
});

test("afterwards, the time goes to the comparison that needs the least of it", () => {
  const sessions = [session("dear", 4000, CLOSE), session("cheap", 500, CLOSE), session("done", 1, DECIDED)];
  expect(next(sessions, 10_000)).toEqual(["cheap", 1]);
});

test("a session that would not be decided in the time that is left is not measured", () => {
  expect(next([session("dear", 4000, CLOSE)], 3000)).toBeUndefined();
});

test("decided, failed and hopeless comparisons need no pair", () => {
  expect(pairsNeeded(DECIDED)).toBe(0);
  expect(pairsNeeded({ ...progress(), failed: "not installed" })).toBe(0);
  expect(pairsNeeded(HOPELESS)).toBe(0);
  expect(next([session("a", 1, DECIDED, HOPELESS)], 10_000)).toBeUndefined();
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
