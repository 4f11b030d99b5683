// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, it } from "vitest";
import { Recorder, type RecorderOptions } from "../../src/meter/recorder.js";
import type { Stall } from "../../src/meter/report.js";

const notBegun = (options: Partial<RecorderOptions> = {}): Recorder =>
  new Recorder({
    host: "node",
    hz: 60,
    floorMs: 4,
    stallsMax: 100,
    sources: () => [
      { name: "watcher", available: true },
      { name: "garbage collection", available: true },
    ],
    ...options,
  });
const recorder = (options?: Partial<RecorderOptions>): Recorder => {
  const made = notBegun(options);
  made.begin(1000, Date.UTC(2026, 0, 1));
  return made;
};
const stall = (startMs: number, endMs: number, errorMs = 0, unwokenMs = 0) => ({
  startMs,
  endMs,
  earliestMs: startMs - errorMs,
  errorMs,
  unwokenMs,
});
const onlyStall = (made: Recorder): Stall => {
  const { stalls } = made.report(5000);
  expect(stalls).toHaveLength(1);
  return stalls[0]!;
};

describe("a stall", () => {
  it("is ignored before the run begins", () => {
    let heard = 0;
    const made = notBegun({ onDetected: () => heard++ });
    made.detected(stall(100, 200));
    expect(heard).toBe(0);
  });

  it("is one stall when it continues", () => {
    const made = recorder();
    made.detected(stall(1100, 1200));
    made.detected({ ...stall(1200, 1203), continuesLast: true });
    expect(onlyStall(made)).toMatchObject({ startMs: 100, lengthMs: 103 });
  });

  it("stays separate from a stall that begins at its end after the run", () => {
    const made = recorder();
    made.detected(stall(1100, 1200));
    made.detected(stall(1200, 1250));
    made.explain(1200);
    expect(made.report(1200).stalls).toMatchObject([{ startMs: 100, lengthMs: 100 }]);
  });

  it("takes its length from missed frames when the watcher was suspended, too", () => {
    const made = recorder();
    for (let at = 0; at <= 1100; at += 10) made.frame(at);
    made.frame(1300);
    // The beats show only that it began after 1101 and was over at 1290.
    made.detected({ startMs: 1290, endMs: 1290, earliestMs: 1101, errorMs: 190, unwokenMs: 0 });
    expect(onlyStall(made)).toMatchObject({ startMs: 110, lengthMs: 180 });
  });
});

describe("the cause of a stall", () => {
  it("is the machine when the idle watcher was delayed for half of it", () => {
    const made = recorder();
    made.watcherLate(1105, 1190);
    made.detected(stall(1100, 1200));
    expect(onlyStall(made)).toMatchObject({ startMs: 100, lengthMs: 100, cause: "machine", machineMs: 85 });
  });

  it("is the machine when the thread was runnable for half of it while others ran", () => {
    const made = recorder();
    made.watcherLate(1105, 1110);
    made.queued(1140, 1200);
    made.detected(stall(1100, 1200));
    expect(onlyStall(made)).toMatchObject({
      cause: "machine",
      machineMs: 60,
      because: expect.stringContaining("ready"),
    });
  });

  it("is the machine when the thread slept and was not woken", () => {
    const made = recorder();
    made.detected(stall(1100, 1150, 0, 45));
    expect(onlyStall(made).cause).toBe("machine");
  });

  it("is garbage collection when that took half of it", () => {
    const made = recorder();
    made.garbageCollected(1110, 1180);
    made.watcherLate(1110, 1115);
    made.detected(stall(1100, 1200));
    expect(onlyStall(made)).toMatchObject({ cause: "gc", gcMs: 70, machineMs: 5 });
  });

  it("is the app, with the longest script first", () => {
    const made = recorder();
    const script = { url: "app.js", invoker: "onclick", layoutMs: 0 };
    made.script(1100, 1120, { ...script, functionName: "short", durationMs: 20 });
    made.script(1120, 1195, { ...script, functionName: "long", durationMs: 75 });
    made.detected(stall(1100, 1200));
    const found = onlyStall(made);
    expect(found).toMatchObject({ cause: "app", because: "long (app.js) ran for 75.0 ms" });
    expect(found.scripts.map((each) => each.functionName)).toEqual(["long", "short"]);
  });

  it("is the app, with the most frequent stack first", () => {
    const made = recorder();
    made.stack(1120, ["inner (a.js:1:1)", "outer (a.js:9:1)"]);
    made.stack(1140, ["sort (b.js:2:2)"]);
    made.stack(1160, ["sort (b.js:2:2)"]);
    made.stack(1300, ["later (c.js:1:1)"]);
    made.detected(stall(1100, 1200));
    const found = onlyStall(made);
    expect(found).toMatchObject({ cause: "app", because: "it was seen in sort (b.js:2:2)" });
    expect(found.stacks).toEqual([
      { frames: ["sort (b.js:2:2)"], seen: 2 },
      { frames: ["inner (a.js:1:1)", "outer (a.js:9:1)"], seen: 1 },
    ]);
  });

  it("is the app when every other cause is ruled out", () => {
    const made = recorder();
    made.detected(stall(1100, 1110));
    expect(onlyStall(made)).toMatchObject({ cause: "app", stacks: [], scripts: [] });
  });

  it("is unknown, with a reason, when no watcher runs", () => {
    const made = recorder({ sources: () => [{ name: "watcher", available: false, why: "forbidden here" }] });
    made.detected(stall(1100, 1110));
    const found = onlyStall(made);
    expect(found.cause).toBe("unknown");
    expect(found.because).toContain("forbidden here");
  });

  it("is unknown when garbage collections and short scripts are not visible", () => {
    const made = recorder({ sources: () => [{ name: "watcher", available: true }] });
    made.detected(stall(1100, 1110));
    expect(onlyStall(made).cause).toBe("unknown");
  });
});

describe("a stall", () => {
  it("begins with a task of known times, when that is within its error", () => {
    const made = recorder();
    made.task(1099.5, 1160);
    made.detected(stall(1101, 1161, 2));
    expect(onlyStall(made)).toMatchObject({ startMs: 99.5, errorMs: 1 });
  });

  it("keeps its own start when no task began near it", () => {
    const made = recorder();
    made.task(1050, 1099);
    made.detected(stall(1101, 1161, 2));
    expect(onlyStall(made)).toMatchObject({ startMs: 101, errorMs: 2 });
  });

  describe("that the beats missed because they were delayed, too,", () => {
    /** Records frames at 60 Hz up to 1500, and the next one at `untilMs`. */
    const framesUntil = (untilMs: number): Recorder => {
      const made = recorder();
      for (let frame = 0; frame <= 30; frame++) made.frame(1000 + (frame * 50) / 3);
      made.frame(untilMs);
      return made;
    };
    const hidden = { startMs: 1539, endMs: 1540, earliestMs: 1501, errorMs: 38, unwokenMs: 0 };

    it("is at least as long as a missing frame", () => {
      const made = framesUntil(1540);
      made.detected(hidden);
      const { startMs, lengthMs } = onlyStall(made);
      expect(startMs).toBeCloseTo(516.7, 0);
      expect(lengthMs).toBeCloseTo(23.3, 0);
    });

    it("is dropped when no frame was missed", () => {
      const made = framesUntil(1500 + 50 / 3);
      made.detected(hidden);
      expect(made.report(5000).stalls).toEqual([]);
    });

    it("begins at the thread's last answer at the earliest, however long a frame was missing", () => {
      const made = framesUntil(1600);
      made.detected({ ...hidden, startMs: 1599, endMs: 1600, earliestMs: 1580, errorMs: 19 });
      expect(onlyStall(made)).toMatchObject({ startMs: 580, lengthMs: 20 });
    });

    it("keeps an earlier start from the beats", () => {
      const made = framesUntil(1540);
      made.detected(stall(1505, 1540));
      expect(onlyStall(made)).toMatchObject({ startMs: 505, lengthMs: 35 });
    });
  });

  it("is cut at the run's start, and dropped when the rest is under the floor", () => {
    const made = recorder();
    made.detected(stall(900, 1050));
    expect(onlyStall(made)).toMatchObject({ startMs: 0, lengthMs: 50 });
    const other = recorder();
    other.detected(stall(900, 1002));
    expect(other.report(5000).stalls).toEqual([]);
  });

  it("is reported once, in order, after its evidence has had time to arrive", () => {
    const explainedMs: number[] = [];
    const made = recorder({ onStall: (each) => explainedMs.push(each.lengthMs) });
    made.detected(stall(1100, 1110));
    made.detected(stall(1200, 1220));
    made.explain(1150);
    expect(explainedMs).toEqual([10]);
    expect(made.report(5000).stalls).toHaveLength(2);
    made.explain(1300);
    made.explain(1400);
    expect(explainedMs).toEqual([10, 20]);
    expect(made.report(5000).stalls).toHaveLength(2);
  });
});

describe("a report", () => {
  it("is plain data that survives JSON", () => {
    const made = recorder({ label: "import" });
    made.detected(stall(1100, 1200));
    made.explain(2000);
    const report = made.report(3000);
    expect(JSON.parse(JSON.stringify(report))).toEqual(report);
    expect(report).toMatchObject({
      kind: "clearway-stalls",
      version: 1,
      label: "import",
      startedAt: "2026-01-01T00:00:00.000Z",
      durationMs: 2000,
      longestMs: 100,
      lagMaxMs: 100,
      lagMeanMs: 2.5,
      stalledMs: 100,
      stallsPerMinute: 30,
      worstSecond: { stalledMs: 100 },
      frames: { estimated: true, dropped: 5, expected: 120, hz: 60 },
      causes: [{ cause: "app", stalls: 1, totalMs: 100 }],
    });
    expect(report.waits.find((wait) => wait.overMs === 50)).toEqual({ overMs: 50, share: 0.025 });
  });

  it("excludes the time for which the page was hidden", () => {
    const made = recorder();
    made.hidden(1500, 2500);
    expect(made.report(3000)).toMatchObject({ durationMs: 1000, hiddenMs: 1000 });
  });

  it("counts stalls that were dropped to bound its memory, and covers the time after them", () => {
    const made = recorder({ stallsMax: 8 });
    for (let index = 0; index < 9; index++) made.detected(stall(1000 + index * 100, 1010 + index * 100));
    made.explain(5000);
    const report = made.report(2000);
    expect(report.droppedStalls).toBe(2);
    expect(report.stalls).toHaveLength(7);
    expect(report.durationMs).toBe(2000 - 1110);
  });

  it("finds the worst second among the remaining stalls, long after the start of the run", () => {
    const made = recorder({ stallsMax: 8 });
    for (let index = 0; index < 9; index++) made.detected(stall(10_000 + index * 100, 10_010 + index * 100));
    made.explain(20_000);
    expect(made.report(12_000).worstSecond).toEqual({ startMs: 9200, stalledMs: 70 });
  });

  it("is empty when the run restarts", () => {
    const made = recorder();
    made.detected(stall(1100, 1200));
    made.explain(1500);
    made.begin(2000, 0);
    expect(made.report(2500)).toMatchObject({ durationMs: 500, stalls: [], droppedStalls: 0 });
  });

  it("counts real frames when there are any, without the gap of a hidden page", () => {
    const made = recorder();
    for (let frame = 0; frame <= 10; frame++) made.frame(1000 + frame * 16.6);
    made.frame(1166 + 100);
    made.hidden(1300, 3000);
    made.frame(3010);
    expect(made.report(4000).frames).toEqual({ hz: 60, expected: 16, dropped: 5, estimated: false });
  });
});
