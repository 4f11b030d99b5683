// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, it } from "vitest";
import { BeatDetector, type DetectedStall, FastestTransit } from "../../src/meter/detect.js";
import fc from "../fixtures/fast-check.js";

/** The sender's clock is ahead by this. The detector does not know it. */
const ahead = 100_000;
/** Latency of a message on a free thread. */
const wayMs = 0.25;

/** Sends a beat every `periodMs` to a thread that is blocked in the spans of `blocked`, and returns the stalls found. */
function play(blocked: readonly [number, number][], durationMs: number, periodMs = 2, floorMs = 4): DetectedStall[] {
  const detector = new BeatDetector(floorMs);
  const found: DetectedStall[] = [];
  for (let sent = 0; sent < durationMs; sent += periodMs) {
    const arrives = sent + wayMs;
    const span = blocked.find(([from, to]) => from <= arrives && arrives < to);
    const stall = detector.beat(sent + ahead, span ? span[1] : arrives);
    if (stall) found.push(stall);
  }
  return found;
}

describe("beats from outside the thread", () => {
  it("find nothing while all are answered at once", () => {
    expect(play([], 1000)).toEqual([]);
  });

  it("find one stall for a burst of beats that waited together", () => {
    const found = play([[101, 201]], 400);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ endMs: 201 });
  });

  it("give a stall's length to within the stated error, at most half a beat", () => {
    const stalls = fc.array(
      fc.record({
        gap: fc.double({ min: 5, max: 50, noNaN: true }),
        length: fc.double({ min: 6, max: 300, noNaN: true }),
      }),
      { minLength: 1, maxLength: 10 },
    );
    fc.assert(
      fc.property(stalls, (parts) => {
        let at = 20;
        const blocked = parts.map(({ gap, length }): [number, number] => {
          const from = at + gap;
          at = from + length;
          return [from, at];
        });
        const found = play(blocked, at + 50);
        expect(found).toHaveLength(blocked.length);
        for (const [index, stall] of found.entries()) {
          const truth = blocked[index]![1] - blocked[index]![0];
          expect(stall.errorMs).toBeLessThanOrEqual(1 + 1e-6);
          expect(Math.abs(stall.endMs - stall.startMs - truth)).toBeLessThanOrEqual(stall.errorMs + 1e-6);
        }
      }),
    );
  });

  it("do not take a suspended sender for a blocked thread", () => {
    const detector = new BeatDetector(4);
    detector.beat(0, 0.25);
    detector.beat(2, 2.25);
    expect(detector.beat(60, 60.25)).toBeUndefined();
  });

  it("find the end of a known stall by the beat that waited for it, even when the sender was delayed", () => {
    const detector = new BeatDetector(4);
    detector.beat(0, 0.25);
    detector.restart(1);
    detector.blockedUntil(101);
    expect(detector.beat(50, 103)).toMatchObject({ startMs: 101, endMs: 103, earliestMs: 101 });
    expect(detector.beat(105, 105.25)).toBeUndefined();
  });

  it("find a stall that begins between two answers of a burst", () => {
    const detector = new BeatDetector(4);
    detector.beat(0, 0.25);
    detector.beat(2, 4.5);
    // Sent at 4, before the previous answer, and answered 300 ms after it.
    expect(detector.beat(4, 304.5)).toMatchObject({ startMs: 4.5, endMs: 304.5 });
    expect(detector.beat(6, 304.6)).toBeUndefined();
  });

  it("find a stall that follows a known one", () => {
    const detector = new BeatDetector(4);
    detector.beat(0, 0.25);
    detector.restart(1);
    detector.blockedUntil(101);
    expect(detector.beat(102, 152)).toMatchObject({ endMs: 152, earliestMs: 101 });
  });

  it("search for the start before the sender's due time, when the sender woke late", () => {
    const detector = new BeatDetector(4);
    detector.beat(0, 0.25);
    detector.beat(2, 2.25);
    // Due at 4, sent at 7: the stall that began at 3 delayed the sender as well.
    expect(detector.beat(7, 53.25, 3)).toEqual({
      startMs: 3.25,
      endMs: 53.25,
      earliestMs: 2.25,
      errorMs: 4,
      unwokenMs: 0,
    });
  });

  it("do not attribute a sender's delay to a stall when the thread answered after that delay", () => {
    const detector = new BeatDetector(4);
    detector.beat(0, 0.25);
    detector.beat(2, 5.25);
    expect(detector.beat(7, 53.25, 3)).toMatchObject({ startMs: 6.25, errorMs: 1 });
  });

  it("report a gap that may hide a stall, with its bounds, when the sender woke late", () => {
    const detector = new BeatDetector(4);
    detector.beat(0, 0.25);
    expect(detector.beat(30, 30.5, 28)).toMatchObject({ startMs: 30.25, endMs: 30.5, earliestMs: 0.25, errorMs: 30 });
    expect(detector.beat(33, 33.25, 1)).toBeUndefined();
  });

  it("find no stall across a restart, such as that of a hidden page", () => {
    const detector = new BeatDetector(4);
    detector.beat(0, 0.25);
    detector.restart(undefined);
    expect(detector.beat(2, 5000)).toBeUndefined();
  });

  it("find a stall at the end of the run, from the last answer on", () => {
    const detector = new BeatDetector(4);
    detector.beat(0, 0.25);
    expect(detector.finish(100.25, 2)).toMatchObject({ startMs: 1.25, endMs: 100.25, errorMs: 1 });
    expect(detector.finish(1.5, 2)).toBeUndefined();
  });

  it("tolerate a slow drift of the sender's clock", () => {
    const detector = new BeatDetector(4, new FastestTransit(undefined, 100));
    let last: DetectedStall | undefined;
    for (let index = 0; index < 5000; index++) {
      const at = index * 2;
      last = detector.beat(at * (1 - 1e-3), at + wayMs) ?? last;
    }
    expect(last).toBeUndefined();
  });
});
