// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures streams of small objects from a worker, against a bare postMessage for each object.
import { median, ratio } from "../../statistics/rounds.js";
import type { MeasurementContext } from "../run.js";

interface ValueFigures {
  valuesPerSecond: number[];
  latencyUs: number[];
}

const bareName = "postMessage";

export async function streamValues({ host, collector, amounts }: MeasurementContext): Promise<void> {
  const { rounds, values, paced } = amounts;
  const figures = await host.probe<Record<string, ValueFigures>>("stream-values", { rounds, values, paced }, 600_000);
  const over = figures[bareName];
  if (over === undefined) throw new Error(`the probe did not measure the bare way: name=${bareName}`);
  for (const [name, { valuesPerSecond, latencyUs }] of Object.entries(figures)) {
    const role = name === bareName ? "reference" : "clearway";
    const metrics = {
      rate: { unit: "events/s", value: median(valuesPerSecond) },
      latency: { unit: "us", value: median(latencyUs) },
    };
    collector.addMeasurement("stream-values", host.name, { name, role }, { values: values as number }, metrics);
    if (role === "reference") continue;
    const labels = { mechanism: name, over: bareName };
    const detail = `${[valuesPerSecond, over.valuesPerSecond].map((each) => Math.round(median(each) / 1000)).join(" over ")} thousand/s`;
    const isBatch = name.includes("batches()");
    const id = isBatch
      ? "stream-batches-over-bare"
      : name.includes("port")
        ? "stream-port-over-bare"
        : "stream-ring-over-bare";
    collector.addPromise(id, host.name, { ...labels, detail }, ratio(valuesPerSecond, over.valuesPerSecond));
    if (isBatch) continue;
    const times = `${[latencyUs, over.latencyUs].map((each) => Math.round(median(each))).join(" over ")} us`;
    collector.addPromise(
      "stream-latency-over-bare",
      host.name,
      { ...labels, detail: times },
      ratio(latencyUs, over.latencyUs),
    );
  }
}
