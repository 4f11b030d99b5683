// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures 1000 trivial calls in flight, with one worker and with two.

import type { HostName } from "../../protocol/message.js";
import type { Role } from "../../scenario/scenario.js";
import { bestOf, median, ratio, shuffler } from "../../statistics/rounds.js";
import type { MeasurementContext } from "../run.js";
import { loadMechanisms, mechanismOf, mechanismsOn } from "./mechanisms.js";

const inFlight = 1000;
/** Numbers of workers. The caller keeps one core busy with many small tasks, so more than two workers do not help on two cores. */
const threadCounts = [1, 2];

export async function flight({ host, collector, amounts, seed, signal }: MeasurementContext): Promise<void> {
  await loadMechanisms(host);
  const cells = threadCounts.flatMap((threads) =>
    mechanismsOn(host.name, threads).map((mechanism) => ({
      key: `${mechanism.name}, ${threads}`,
      threads,
      ...mechanism,
    })),
  );
  const running = cells.filter(({ unavailable }) => unavailable === undefined);
  const rates = new Map<string, number[]>(running.map(({ key }) => [key, []]));
  const ratesOf = (key: string) => rates.get(key) ?? [];
  const failed = new Map<string, string>();
  const shuffle = shuffler(seed);
  for (let round = 0; round < (amounts["rounds"] ?? 0); round++) {
    for (const { key, name, threads } of shuffle(running)) {
      if (failed.has(key)) continue;
      try {
        const params = { name, threads, inFlight, warmMsMin: 150, warmMsMax: 750, measuredMs: 250 };
        ratesOf(key).push(await host.probe<number>("flight", params, 20_000));
      } catch (error) {
        if (signal.aborted) throw error;
        failed.set(key, firstLine(error));
      }
    }
  }
  for (const { key, threads, ...mechanism } of cells) {
    const params = { inFlight, threads };
    const why = failed.get(key) ?? mechanism.unavailable;
    if (why === undefined) collector.addMeasurement("flight", host.name, mechanism, params, rateOf(ratesOf(key)));
    else
      collector.addMissingMeasurement(
        "flight",
        host.name,
        mechanism,
        params,
        why,
        failed.has(key) ? "failed" : "unavailable",
      );
  }
  const complete = [...rates].filter(([key]) => !failed.has(key));
  const bestOfRole = (role: Role) =>
    bestOf(Object.fromEntries(complete.filter(([key]) => roleOf(host.name, key) === role)), "high");
  const best = bestOfRole("clearway");
  for (const [id, over] of [
    ["flight-over-peer", bestOfRole("peer")],
    ["flight-over-bare", bestOfRole("reference")],
  ] as const) {
    if (best === undefined || over === undefined)
      collector.addMissingPromise(
        id,
        host.name,
        { mechanism: "clearway" },
        "nothing to compare: every run failed",
        "failed",
      );
    else
      collector.addPromise(
        id,
        host.name,
        { mechanism: best, over, detail: inThousands(ratesOf(best), ratesOf(over)) },
        ratio(ratesOf(best), ratesOf(over)),
      );
  }
}

function roleOf(host: HostName, key: string): Role {
  const at = key.lastIndexOf(", ");
  return mechanismOf(host, key.slice(0, at), Number(key.slice(at + 2))).role;
}

const firstLine = (error: unknown) => (error instanceof Error ? error.message : String(error)).split("\n")[0] as string;

const rateOf = (rates: number[]) => ({ rate: { unit: "events/s", value: median(rates) } });

function inThousands(...series: number[][]): string {
  return `${series.map((rates) => Math.round(median(rates) / 1000)).join(" over ")} thousand/s`;
}
