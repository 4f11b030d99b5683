// SPDX-License-Identifier: MIT OR Apache-2.0
// The trace, read by the parser of Chrome's DevTools.
import { TraceModel } from "@paulirish/trace_engine/models/trace/trace.js";
import { expect, test } from "vitest";
import { measure } from "../../src/meter.js";
import { stallTrace, type TraceEvent } from "../../src/meter-trace.js";
import { busy } from "./busy.js";

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
