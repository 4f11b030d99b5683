// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures 1000 trivial calls in flight, with one worker and with two.

import type { HostName } from "../../protocol/message.js";
import type { Role } from "../../scenario/scenario.js";
import { bestOf, median, ratio, shuffler } from "../../statistics/rounds.js";
import type { RowContext } from "../run.js";
import { known, learn, subjectOf } from "./subjects.js";

const inFlight = 1000;
/** Numbers of workers. The caller keeps one core busy with many small tasks, so more than two workers do not help on two cores. */
const threadCounts = [1, 2];

export async function flight({ host, collect, settings, seed, signal }: RowContext): Promise<void> {
  await learn(host);
  const cells = threadCounts.flatMap((threads) =>
    known(host.name, threads).map((subject) => ({ key: `${subject.name}, ${threads}`, threads, ...subject })),
  );
  const running = cells.filter(({ unavailable }) => unavailable === undefined);
  const rates = new Map<string, number[]>(running.map(({ key }) => [key, []]));
  const ratesOf = (key: string) => rates.get(key) ?? [];
  const failed = new Map<string, string>();
  const shuffle = shuffler(seed);
  for (let round = 0; round < (settings["rounds"] ?? 0); round++) {
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
  for (const { key, threads, ...subject } of cells) {
    const params = { inFlight, threads };
    const why = failed.get(key) ?? subject.unavailable;
    if (why === undefined) collect.measured("flight", host.name, subject, params, rateOf(ratesOf(key)));
    else collect.absent("flight", host.name, subject, params, why, failed.has(key) ? "failed" : "unavailable");
  }
  const whole = [...rates].filter(([key]) => !failed.has(key));
  const of = (role: Role) =>
    bestOf(Object.fromEntries(whole.filter(([key]) => roleOf(host.name, key) === role)), "high");
  const best = of("clearway");
  for (const [id, over] of [
    ["flight-over-peer", of("peer")],
    ["flight-over-bare", of("reference")],
  ] as const) {
    if (best === undefined || over === undefined)
      collect.unmeasured(id, host.name, { of: "clearway" }, "nothing to compare: every run failed", "failed");
    else
      collect.promise(
        id,
        host.name,
        { of: best, over, detail: inThousands(ratesOf(best), ratesOf(over)) },
        ratio(ratesOf(best), ratesOf(over)),
      );
  }
}

function roleOf(host: HostName, key: string): Role {
  const at = key.lastIndexOf(", ");
  return subjectOf(host, key.slice(0, at), Number(key.slice(at + 2))).role;
}

const firstLine = (error: unknown) => (error instanceof Error ? error.message : String(error)).split("\n")[0] as string;

const rateOf = (rates: number[]) => ({ rate: { unit: "events/s", value: median(rates) } });

function inThousands(...series: number[][]): string {
  return `${series.map((rates) => Math.round(median(rates) / 1000)).join(" over ")} thousand/s`;
}
