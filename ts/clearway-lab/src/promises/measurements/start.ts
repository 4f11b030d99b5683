// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures the time from the creation of a pool with one worker to its first result.
import { median, ratio } from "../../statistics/rounds.js";
import type { MeasurementContext } from "../run.js";
import { loadMechanisms, mechanismOf } from "./mechanisms.js";

export async function start({ host, collector, amounts, seed }: MeasurementContext): Promise<void> {
  await loadMechanisms(host);
  const figures = await host.probe<Record<string, number[]>>("start", { rounds: amounts["rounds"], seed });
  for (const [name, ms] of Object.entries(figures))
    collector.addMeasurement(
      "start",
      host.name,
      mechanismOf(host.name, name),
      {},
      { firstResult: { unit: "ms", samples: ms } },
    );
  const [own = [], bare = []] = [figures["clearway"], figures["postMessage"]];
  const detail = `${median(own).toFixed(1)} ms over ${median(bare).toFixed(1)}`;
  const labels = { mechanism: "clearway", over: "a bare worker", detail };
  collector.addPromise("start-over-bare", host.name, labels, ratio(own, bare));
}
