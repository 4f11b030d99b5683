// SPDX-License-Identifier: MIT OR Apache-2.0
import { TraceModel } from "@paulirish/trace_engine/models/trace/trace.js";
import { describe, expect, it, test } from "vitest";
import { mark } from "../../src/meter/mark.js";
import { measure } from "../../src/meter/measure.js";
import type { StallReport } from "../../src/meter/report.js";
import { watch } from "../../src/meter/watch.js";
import { stallTrace, type TraceEvent } from "../../src/meter-trace.js";
import { busy, pause } from "./busy.js";

/** Measures until a sample has the name: a busy machine may keep the sampling thread off its core for a whole stall. */
async function untilSampled(name: string, run: () => unknown): Promise<StallReport> {
  for (;;) {
    const { report } = await measure(run);
    if (report.stalls.some(({ stacks }) => JSON.stringify(stacks).includes(name))) return report;
  }
}

describe("measure() in Node", () => {
  it("returns the function's value, and reports its work as one stall", async () => {
    const { value, runtimeMs, report } = await measure(() => busy(100), { hz: 120, label: "job" });
    expect(report.stalls).toHaveLength(1);
    // The function blocks the thread from its first line to its last. The machine can only make the stall longer.
    expect(report.stalls[0]!.lengthMs).toBeGreaterThanOrEqual(value.lengthMs);
    expect(report.stalls[0]!.lengthMs).toBeLessThanOrEqual(runtimeMs);
    expect(report.durationMs).toBe(runtimeMs);
    expect(report).toMatchObject({ host: "node", label: "job", hitch: { hz: 120 }, frames: { estimated: true } });
  });

  it("rejects with the function's own error, thrown or rejected", async () => {
    const error = new Error("no");
    await expect(
      measure(() => {
        throw error;
      }),
    ).rejects.toBe(error);
    await expect(measure(() => Promise.reject(error))).rejects.toBe(error);
  });

  it("reports the functions of a blocked thread, by sampled stacks", async () => {
    function factorise(): void {
      busy(120);
    }
    const report = await untilSampled("factorise", async () => {
      await pause(1);
      factorise();
    });
    expect(report.sources).toContainEqual({ name: "stacks", available: true });
  });

  it("reports a thread that is blocked in a synchronous wait", async () => {
    function blockedWait(): void {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 120);
    }
    expect((await untilSampled("blockedWait", blockedWait)).stalls).toHaveLength(1);
  });

  it("takes no stacks when they are off", async () => {
    const { report } = await measure(() => busy(60), { stacks: false });
    expect(report.stalls[0]!.stacks).toEqual([]);
    expect(report.sources.find((source) => source.name === "stacks")?.available).toBe(false);
  });

  it("reports the open marks and the functions that ran", async () => {
    const { report } = await measure(
      async () => {
        await pause(2);
        mark("parse", () => busy(30));
        await pause(3);
      },
      { stacks: false },
    );
    const stall = report.stalls.find((each) => each.marks.some((share) => share.label === "parse"));
    expect(stall).toBeDefined();
  });

  it("reports garbage collection in the stall that it caused", async () => {
    const { report } = await measure(() => {
      const kept: object[] = [];
      for (let index = 0; index < 2_000_000; index++) kept.push({ index });
      return kept.length;
    });
    expect(report.stalls[0]!.gcMs).toBeGreaterThan(0);
  });

  it("sees garbage collection although the thread is blocked again right after the run", async () => {
    const watching = watch();
    await watching.ready;
    // The run happens among the immediates, after Node has passed on what its garbage collector reported. The next phase of the loop is
    // that of the timers, and the meter's is due in it.
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    const { report } = await measure(() => {
      const kept: object[] = [];
      for (let index = 0; index < 2_000_000; index++) kept.push({ index });
      queueMicrotask(() => busy(60));
      return kept.length;
    });
    watching.stop();
    expect(report.stalls[0]!.gcMs).toBeGreaterThan(0);
  });

  it("can run twice at the same time, and during a watch", async () => {
    const watching = watch();
    const [first, second] = await Promise.all([
      measure(async () => {
        await pause(1);
        busy(20);
        await pause(1);
      }),
      measure(() => pause(8)),
    ]);
    watching.stop();
    for (const report of [first.report, watching.report()]) expect(report.longestMs).toBeGreaterThan(0);
    expect(second.report.durationMs).toBeGreaterThan(0);
  });
});

// The trace, read by the parser of Chrome's DevTools.
test("a trace of a real run has its stalls on a named track, as Chrome's DevTools reads it", async () => {
  const { report } = await measure(() => busy(60), { label: "importer" });
  const text = JSON.stringify(stallTrace(report));
  const { traceEvents } = JSON.parse(text) as { traceEvents: TraceEvent[] };
  const model = TraceModel.Model.createWithAllHandlers();
  await model.parse(traceEvents as never, { metadata: {}, isFreshRecording: false } as never);
  const threads = model.parsedTrace(0)!.data.Renderer.processes.get(1 as never)!.threads;
  const track = threads.get(1 as never)!;
  expect(track.name).toBe("stalls");
  const read = track.entries.map(({ name, ts, dur }) => [name, ts, dur]);
  expect(read).toEqual(
    report.stalls.map(({ cause, startMs, lengthMs }) => [
      cause,
      expect.closeTo(startMs * 1000, 0),
      expect.closeTo(lengthMs * 1000, 0),
    ]),
  );
  expect(read.length).toBeGreaterThan(0);
});
