// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures the reading of a table of 10 M rows on the main thread: a numeric column, and the rows themselves.
import { median, ratio } from "../../statistics/rounds.js";
import type { MeasuredMechanism } from "../collector.js";
import type { MeasurementContext } from "../run.js";

const rows = 10_000_000;

export async function scan({ host, collector, amounts, seed }: MeasurementContext): Promise<void> {
  const comparisons = [
    ["scan-column", "column"],
    ["scan-chunk-cursors", "chunk cursors"],
  ] as const;
  const plain = "plain loop";
  const figures = await host.probe<Record<string, number[]>>("scan", { rows, rounds: amounts["rounds"], seed });
  for (const [name, ms] of Object.entries(figures)) {
    const mechanism: MeasuredMechanism =
      name === plain ? { name, role: "reference" } : { name: `clearway records, ${name}`, role: "clearway" };
    collector.addMeasurement("scan", host.name, mechanism, { rows }, { time: { unit: "ms", value: median(ms) } });
  }
  for (const [id, reader] of comparisons) {
    const [own = [], loop = []] = [figures[reader], figures[plain]];
    const labels = { mechanism: `clearway records, ${reader}`, over: plain };
    const detail = `${median(own).toFixed(1)} ms over ${median(loop).toFixed(1)}`;
    collector.addPromise(id, host.name, { ...labels, detail }, ratio(own, loop));
  }
}
