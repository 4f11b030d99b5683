// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures the time from the creation of a pool with one worker to its first result.
import { median, ratio } from "../../statistics/rounds.js";
import type { RowContext } from "../run.js";
import { learn, subjectOf } from "./subjects.js";

export async function start({ host, collect, settings, seed }: RowContext): Promise<void> {
  await learn(host);
  const figures = await host.probe<Record<string, number[]>>("start", { rounds: settings["rounds"], seed });
  for (const [name, ms] of Object.entries(figures))
    collect.measured("start", host.name, subjectOf(host.name, name), {}, { firstResult: { unit: "ms", samples: ms } });
  const [own = [], bare = []] = [figures["clearway"], figures["postMessage"]];
  const detail = `${median(own).toFixed(1)} ms over ${median(bare).toFixed(1)}`;
  const about = { of: "clearway", over: "a bare worker", detail };
  collect.promise("start-over-bare", host.name, about, ratio(own, bare));
}
