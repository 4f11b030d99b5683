// SPDX-License-Identifier: MIT OR Apache-2.0
// From nothing to the first result, with one worker.
import { median, ratio } from "../../statistics/rounds.ts";
import { learn, subjectOf } from "./subjects.mjs";

export async function start({ host, collect, settings, seed }) {
  await learn(host);
  const figures = await host.probe("start", { rounds: settings.rounds, seed });
  for (const [name, ms] of Object.entries(figures))
    collect.measured("start", host.name, subjectOf(host.name, name), {}, { firstResult: { unit: "ms", samples: ms } });
  const detail = `${median(figures.clearway).toFixed(1)} ms over ${median(figures.postMessage).toFixed(1)}`;
  const about = { of: "clearway", over: "a bare worker", detail };
  collect.promise("start-over-bare", host.name, about, ratio(figures.clearway, figures.postMessage));
}
