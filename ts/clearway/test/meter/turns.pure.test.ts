// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, it } from "vitest";
import { type DetectedStall, TurnDetector } from "../../src/meter/detect.js";
import fc from "../fixtures/fast-check.js";

/**
 * Plays a script of an event loop: `w5` works 5 ms, `s20` sleeps 20 ms, `C` and `T` take readings in the check and timers phases,
 * `d10` announces the next reading in 10 ms, `E` ends the run.
 */
function play(line: string, floorMs = 4): DetectedStall[] {
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
  play(line, floorMs).map(({ startMs, endMs }) => [startMs, endMs]);

describe("the turns of an event loop", () => {
  it("have no stall while the loop sleeps", () => {
    expect(spans("d10 s10 C T d10 s10 C T d10 s10 C E")).toEqual([]);
  });

  it("show a timer's work from the previous poll to the next one", () => {
    expect(spans("d10 s5 C w50 T d1 s1 C T E")).toEqual([[5, 55]]);
  });

  it("show an I/O callback's work, which runs before the reading of its turn", () => {
    expect(spans("d10 s7 w30 C d1 s1 C T E")).toEqual([[7, 37]]);
  });

  it("join callbacks of one turn, because no event can be handled between them", () => {
    expect(spans("d10 s5 w20 C w30 T d1 s1 C E")).toEqual([[5, 55]]);
  });

  it("separate turns without a sleep in between, because each polls for events", () => {
    expect(spans("d10 s5 C w10 T C w10 T C w10 T d1 s1 C E")).toEqual([
      [5, 15],
      [15, 25],
      [25, 35],
    ]);
  });

  it("omit stalls under the floor", () => {
    expect(spans("d10 s5 C w3 T d1 s1 C E")).toEqual([]);
    expect(spans("d10 s5 C w3 T d1 s1 C E", 2)).toEqual([[5, 8]]);
  });

  it("end an open stall at the end of the run", () => {
    expect(spans("d10 s5 C w100 E")).toEqual([[5, 105]]);
    expect(spans("w100 E")).toEqual([[0, 100]]);
  });

  it("keep a stall that a sleep has ended when the run ends within the next one", () => {
    expect(spans("d10 s5 w50 C d1 s0.5 w20 E")).toEqual([
      [5, 55],
      [55.5, 75.5],
    ]);
  });

  it("report work before a sleep with its full length, ending after the sleep, and with an error that covers both spans", () => {
    expect(play("T d10 w8 s2 C T d10 s10 C E")).toEqual([
      { startMs: 2, endMs: 10, earliestMs: 0, errorMs: 8, unwokenMs: 0 },
    ]);
  });

  it("state the error of a length around a sleep", () => {
    const [stall] = play("T d10 w3 s5 w30 C d1 s1 C E");
    // 3 ms before the sleep and 30 after it look like 33 after it. The announced reading limits the error to 5.
    expect(stall).toMatchObject({ endMs: 38, errorMs: 5 });
    expect(Math.abs(stall!.endMs - stall!.startMs - 30)).toBeLessThanOrEqual(stall!.errorMs);
  });

  it("count a sleep far beyond the announced reading as a stall of a thread that was not scheduled", () => {
    expect(play("T d10 s40 C T d10 s10 C E")).toEqual([
      { startMs: 10, endMs: 40, earliestMs: 0, errorMs: 0, unwokenMs: 30 },
    ]);
  });

  it("give the exact length of single runs of work, and their place to within the adjacent sleep", () => {
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
