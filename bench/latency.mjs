// SPDX-License-Identifier: MIT OR Apache-2.0
import { mechanisms } from "./mechanisms/mechanisms.mjs";
import { quantile, ratio, rounds, spread } from "./rounds.mjs";

const callsARound = 400;

/** One trivial call after the other on a warm worker: p50 of a round trip in microseconds, and against postMessage's. */
export async function latency(count, seed) {
  const subjects = mechanisms(1).map((each) => ({ ...each, ...each.start() }));
  for (const { call } of subjects) for (let at = 0; at < 3000; at++) await call(at);
  const figures = await rounds(subjects, count, seed, async ({ call }) => {
    const samples = new Float64Array(callsARound);
    for (let at = 0; at < callsARound; at++) {
      const begin = performance.now();
      await call(at);
      samples[at] = (performance.now() - begin) * 1000;
    }
    return quantile(samples, 0.5);
  });
  for (const { stop } of subjects) await stop();
  return subjects.map(({ name, role, settings }) => ({
    name,
    role,
    settings,
    p50Us: spread(figures.get(name)),
    overPostMessage: ratio(figures.get(name), figures.get("postMessage")),
  }));
}
