// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { BeatDetector, type DetectedStall, FastestTransit, TurnDetector } from "../../src/meter/detect.js";
import { clockStepOf } from "../../src/meter/host/host.js";
import { bestOffset } from "../../src/meter/ping.js";
import fc from "../fixtures/fast-check.js";

/** The sender's clock is ahead by this. The detector does not know it. */
const ahead = 100_000;
/** Latency of a message on a free thread. */
const wayMs = 0.25;

/** Sends a beat every `periodMs` to a thread that is blocked in the spans of `blocked`, and returns the stalls found. */
function beatsOf(blocked: readonly [number, number][], durationMs: number, periodMs = 2, floorMs = 4): DetectedStall[] {
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
  test("find nothing while all are answered at once", () => {
    expect(beatsOf([], 1000)).toEqual([]);
  });

  test("find one stall for a burst of beats that waited together", () => {
    const found = beatsOf([[101, 201]], 400);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ endMs: 201 });
  });

  test("give a stall's length to within the stated error, at most half a beat", () => {
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
        const found = beatsOf(blocked, at + 50);
        expect(found).toHaveLength(blocked.length);
        for (const [index, stall] of found.entries()) {
          const truth = blocked[index]![1] - blocked[index]![0];
          expect(stall.errorMs).toBeLessThanOrEqual(1 + 1e-6);
          expect(Math.abs(stall.endMs - stall.startMs - truth)).toBeLessThanOrEqual(stall.errorMs + 1e-6);
        }
      }),
    );
  });

  test("do not take a suspended sender for a blocked thread", () => {
    const detector = new BeatDetector(4);
    detector.beat(0, 0.25);
    detector.beat(2, 2.25);
    expect(detector.beat(60, 60.25)).toBeUndefined();
  });

  test("find the end of a known stall by the beat that waited for it, even when the sender was delayed", () => {
    const detector = new BeatDetector(4);
    detector.beat(0, 0.25);
    detector.restart(1);
    detector.blockedUntil(101);
    expect(detector.beat(50, 103)).toMatchObject({ startMs: 101, endMs: 103, earliestMs: 101 });
    expect(detector.beat(105, 105.25)).toBeUndefined();
  });

  test("find a stall that begins between two answers of a burst", () => {
    const detector = new BeatDetector(4);
    detector.beat(0, 0.25);
    detector.beat(2, 4.5);
    // Sent at 4, before the previous answer, and answered 300 ms after it.
    expect(detector.beat(4, 304.5)).toMatchObject({ startMs: 4.5, endMs: 304.5 });
    expect(detector.beat(6, 304.6)).toBeUndefined();
  });

  test("find a stall that follows a known one", () => {
    const detector = new BeatDetector(4);
    detector.beat(0, 0.25);
    detector.restart(1);
    detector.blockedUntil(101);
    expect(detector.beat(102, 152)).toMatchObject({ endMs: 152, earliestMs: 101 });
  });

  test("search for the start before the sender's due time, when the sender woke late", () => {
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

  test("do not attribute a sender's delay to a stall when the thread answered after that delay", () => {
    const detector = new BeatDetector(4);
    detector.beat(0, 0.25);
    detector.beat(2, 5.25);
    expect(detector.beat(7, 53.25, 3)).toMatchObject({ startMs: 6.25, errorMs: 1 });
  });

  test("report a gap that may hide a stall, with its bounds, when the sender woke late", () => {
    const detector = new BeatDetector(4);
    detector.beat(0, 0.25);
    expect(detector.beat(30, 30.5, 28)).toMatchObject({ startMs: 30.25, endMs: 30.5, earliestMs: 0.25, errorMs: 30 });
    expect(detector.beat(33, 33.25, 1)).toBeUndefined();
  });

  test("find no stall across a restart, such as that of a hidden page", () => {
    const detector = new BeatDetector(4);
    detector.beat(0, 0.25);
    detector.restart(undefined);
    expect(detector.beat(2, 5000)).toBeUndefined();
  });

  test("find a stall at the end of the run, from the last answer on", () => {
    const detector = new BeatDetector(4);
    detector.beat(0, 0.25);
    expect(detector.finish(100.25, 2)).toMatchObject({ startMs: 1.25, endMs: 100.25, errorMs: 1 });
    expect(detector.finish(1.5, 2)).toBeUndefined();
  });

  test("tolerate a slow drift of the sender's clock", () => {
    const detector = new BeatDetector(4, new FastestTransit(undefined, 100));
    let last: DetectedStall | undefined;
    for (let index = 0; index < 5000; index++) {
      const at = index * 2;
      last = detector.beat(at * (1 - 1e-3), at + wayMs) ?? last;
    }
    expect(last).toBeUndefined();
  });
});

/**
 * Plays a script of an event loop: `w5` works 5 ms, `s20` sleeps 20 ms, `C` and `T` take readings in the check and timers phases,
 * `d10` announces the next reading in 10 ms, `E` ends the run.
 */
function turnsOf(line: string, floorMs = 4): DetectedStall[] {
  let at = 0;
  let slept = 0;
  const detector = new TurnDetector(floorMs, at, slept);
  const found: DetectedStall[] = [];
  const keep = (stall: DetectedStall | undefined): void => {
    if (stall) found.push(stall);
  };
  for (const step of line.split(" ")) {
    const amount = Number(step.slice(1));
    if (step.startsWith("w")) at += amount;
    else if (step.startsWith("s")) {
      at += amount;
      slept += amount;
    } else if (step === "C") keep(detector.read("check", at, slept));
    else if (step === "T") keep(detector.read("timer", at, slept));
    else if (step === "E") found.push(...detector.finish(at, slept));
    else if (step.startsWith("d")) detector.dueMs = at + amount;
    else throw new Error(`unknown step: ${step}`);
  }
  return found;
}
const spans = (line: string, floorMs?: number): [number, number][] =>
  turnsOf(line, floorMs).map(({ startMs, endMs }) => [startMs, endMs]);

describe("the turns of an event loop", () => {
  test("have no stall while the loop sleeps", () => {
    expect(spans("d10 s10 C T d10 s10 C T d10 s10 C E")).toEqual([]);
  });

  test("show a timer's work from the previous poll to the next one", () => {
    expect(spans("d10 s5 C w50 T d1 s1 C T E")).toEqual([[5, 55]]);
  });

  test("show an I/O callback's work, which runs before the reading of its turn", () => {
    expect(spans("d10 s7 w30 C d1 s1 C T E")).toEqual([[7, 37]]);
  });

  test("join callbacks of one turn, because no event can be handled between them", () => {
    expect(spans("d10 s5 w20 C w30 T d1 s1 C E")).toEqual([[5, 55]]);
  });

  test("separate turns without a sleep in between, because each polls for events", () => {
    expect(spans("d10 s5 C w10 T C w10 T C w10 T d1 s1 C E")).toEqual([
      [5, 15],
      [15, 25],
      [25, 35],
    ]);
  });

  test("omit stalls under the floor", () => {
    expect(spans("d10 s5 C w3 T d1 s1 C E")).toEqual([]);
    expect(spans("d10 s5 C w3 T d1 s1 C E", 2)).toEqual([[5, 8]]);
  });

  test("end an open stall at the end of the run", () => {
    expect(spans("d10 s5 C w100 E")).toEqual([[5, 105]]);
    expect(spans("w100 E")).toEqual([[0, 100]]);
  });

  test("keep a stall that a sleep has ended when the run ends within the next one", () => {
    expect(spans("d10 s5 w50 C d1 s0.5 w20 E")).toEqual([
      [5, 55],
      [55.5, 75.5],
    ]);
  });

  test("report work before a sleep with its full length, ending after the sleep, and with an error that covers both spans", () => {
    expect(turnsOf("T d10 w8 s2 C T d10 s10 C E")).toEqual([
      { startMs: 2, endMs: 10, earliestMs: 0, errorMs: 8, unwokenMs: 0 },
    ]);
  });

  test("state the error of a length around a sleep", () => {
    const [stall] = turnsOf("T d10 w3 s5 w30 C d1 s1 C E");
    // 3 ms before the sleep and 30 after it look like 33 after it. The announced reading limits the error to 5.
    expect(stall).toMatchObject({ endMs: 38, errorMs: 5 });
    expect(Math.abs(stall!.endMs - stall!.startMs - 30)).toBeLessThanOrEqual(stall!.errorMs);
  });

  test("count a sleep far beyond the announced reading as a stall of a thread that was not scheduled", () => {
    expect(turnsOf("T d10 s40 C T d10 s10 C E")).toEqual([
      { startMs: 10, endMs: 40, earliestMs: 0, errorMs: 0, unwokenMs: 30 },
    ]);
  });

  test("give the exact length of single runs of work, and their place to within the adjacent sleep", () => {
    const work = fc.record({
      idle: fc.integer({ min: 1, max: 9 }),
      work: fc.integer({ min: 5, max: 500 }),
      inTimers: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(work, { minLength: 1, maxLength: 20 }), (parts) => {
        const line = ["T d10"];
        const truth: [number, number][] = [];
        let at = 0;
        for (const part of parts) {
          at += part.idle;
          truth.push([at, at + part.work]);
          at += part.work;
          // After work, as in the watcher: a reading 1 ms later, and a quiet beat.
          line.push(
            part.inTimers ? `s${part.idle} C w${part.work} T d1` : `s${part.idle} w${part.work} C d1`,
            "s1 C T d10",
          );
          at += 1;
        }
        const found = spans(`${line.join(" ")} s1 C E`);
        expect(found.map(([from, to]) => to - from)).toEqual(truth.map(([from, to]) => to - from));
        for (const [index, [from]] of found.entries()) {
          expect(Math.abs(from - truth[index]![0])).toBeLessThanOrEqual(parts[index]!.idle);
        }
      }),
    );
  });
});

/** A clock that is read every `readMs`, and that a browser rounds down to steps of `stepMs`. */
function clockOf(stepMs: number, readMs: number): () => number {
  let reads = 0;
  return () => Math.floor((0.3 + ++reads * readMs) / stepMs) * stepMs;
}

describe("the step of a clock is", () => {
  test.each([0.005, 0.1, 1])("%f ms for a clock that is rounded to that", (stepMs) => {
    expect(clockStepOf(clockOf(stepMs, stepMs / 7))).toBeCloseTo(stepMs, 9);
  });

  test("infinite for a clock that does not step while it is read", () => {
    expect(clockStepOf(() => 16.7)).toBe(Number.POSITIVE_INFINITY);
  });
});

describe("with clocks that step 1 ms, the offset of a remote clock", () => {
  test("has an error of at least one step", () => {
    expect(bestOffset([{ sentMs: 5, remoteMs: 5, backMs: 5 }], 1)).toEqual({ offsetMs: 0, errorMs: 1 });
  });

  test("agrees with trips that are apart by less than the steps", () => {
    const trips = [
      { sentMs: 5, remoteMs: 5, backMs: 5 },
      { sentMs: 9, remoteMs: 10, backMs: 9 },
    ];
    expect(bestOffset(trips, 1)).toEqual({ offsetMs: 0.5, errorMs: 0.5 });
  });
});
