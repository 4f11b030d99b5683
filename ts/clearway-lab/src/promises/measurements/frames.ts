// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures streams from native code: frames at a fixed rate, and small events at the highest rate that the credit allows.
import { median, spread } from "../../statistics/rounds.js";
import type { MeasuredMechanism } from "../collector.js";
import type { MeasurementContext } from "../run.js";

const frameBytes = 8 << 20;
const perSecond = 60;
const events = 1_000_000;

/** The result of the probe `frames`. */
interface FrameFigures {
  asked: number;
  came: number;
  lost: number;
  copiedBytes: number;
  leaked: number;
  stallMs: number;
  warmStallMs: number;
  anyStallMs: number;
  causes: string[];
}

/** The result of the probe `firehose`. */
interface FirehoseFigures {
  perSecond: number[];
  lost: number;
}

export async function frames({ host, collector, amounts, nativeFiles }: MeasurementContext): Promise<void> {
  const { files, why } = nativeFiles();
  const labels = { mechanism: "plugin, events" };
  if (why !== undefined) {
    for (const id of ["frames-copied", "frames-lost", "frames-stall", "events-lost"])
      collector.addMissingPromise(id, host.name, labels, why);
    return;
  }
  const { seconds = 0, warmSeconds = 0 } = amounts;
  const params = { file: files.plugin, seconds, warmSeconds, bytes: frameBytes, perSecond };
  const figures = await host.probe<FrameFigures>("frames", params, (warmSeconds + seconds + 30) * 1000);
  const state = `for ${seconds} s`;
  const addFigure = (id: string, value: number, detail: string) =>
    collector.addPromise(id, host.name, { ...labels, state, detail }, spread([value]));
  addFigure("frames-copied", figures.copiedBytes, `${((figures.came * frameBytes) / 2 ** 30).toFixed(1)} GB arrived`);
  addFigure("frames-lost", figures.lost, `${figures.came} of ${figures.asked} arrived; ${figures.leaked} leaked`);
  const causes = figures.causes.length > 0 ? `: ${figures.causes.join(", ")}` : "";
  const before = `in the ${warmSeconds} s before: ${figures.warmStallMs.toFixed(1)} ms`;
  const machine = `including the machine's own stalls: ${figures.anyStallMs.toFixed(1)} ms${causes}`;
  addFigure("frames-stall", figures.stallMs, `${machine}; ${before}`);
  const metrics = {
    longestStall: { unit: "ms", value: figures.stallMs },
    longestStallBefore: { unit: "ms", value: figures.warmStallMs },
    longestStallOfAny: { unit: "ms", value: figures.anyStallMs },
    copied: { unit: "bytes", value: figures.copiedBytes },
    lost: { unit: "frames", value: figures.lost },
  };
  const mechanism: MeasuredMechanism = {
    name: labels.mechanism,
    role: "clearway",
    settings: "credit of 4 frames; read and released at once",
  };
  collector.addMeasurement("frames", host.name, mechanism, { seconds, frameBytes, perSecond }, metrics);

  const firehose = await host.probe<FirehoseFigures>("firehose", {
    file: files.plugin,
    count: events,
    rounds: amounts["eventRounds"],
  });
  const rate = median(firehose.perSecond);
  const detail = `${(rate / 1e6).toFixed(1)} M events/s`;
  collector.addPromise(
    "events-lost",
    host.name,
    { ...labels, state: "credit of 4096", detail },
    spread([firehose.lost]),
  );
  const firehoseMechanism: MeasuredMechanism = {
    name: labels.mechanism,
    role: "clearway",
    settings: "credit of 4096 events",
  };
  const rates = { rate: { unit: "events/s", value: rate }, lost: { unit: "events", value: firehose.lost } };
  collector.addMeasurement("firehose", host.name, firehoseMechanism, { eventBytes: 16 }, rates);
}
