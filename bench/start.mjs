// SPDX-License-Identifier: MIT OR Apache-2.0
import { mechanisms } from "./mechanisms/mechanisms.mjs";
import { ratio, rounds, spread } from "./rounds.mjs";

/** From nothing to the first result, one worker: milliseconds, and against a bare worker's first reply. */
export async function start(count, seed) {
  const subjects = mechanisms(1);
  const measure = async (subject) => {
    const begin = performance.now();
    const { call, stop } = subject.start();
    await call(1);
    const elapsed = performance.now() - begin;
    await stop();
    return elapsed;
  };
  for (const subject of subjects) await measure(subject);
  const figures = await rounds(subjects, count, seed, measure);
  return subjects.map(({ name, role, settings }) => ({
    name,
    role,
    settings,
    firstResultMs: spread(figures.get(name)),
    overBareWorker: ratio(figures.get(name), figures.get("postMessage")),
  }));
}
