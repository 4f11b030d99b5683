// SPDX-License-Identifier: MIT OR Apache-2.0
// 1000 trivial calls in flight, with one worker and with two.
import { bestOf, ratio, shuffler } from "../../statistics/rounds.ts";
import { known, learn, subjectOf } from "./subjects.mjs";

const inFlight = 1000;
/** The caller needs one core for many small tasks: on two cores, more than two workers do not help. */
const threadCounts = [1, 2];

export async function flight({ host, collect, settings, seed }) {
  await learn(host);
  const cells = threadCounts.flatMap((threads) =>
    known(host.name, threads).map((subject) => ({ key: `${subject.name}, ${threads}`, threads, ...subject })),
  );
  const running = cells.filter(({ unavailable }) => unavailable === undefined);
  const rates = Object.fromEntries(running.map(({ key }) => [key, []]));
  const failed = new Map();
  const shuffle = shuffler(seed);
  for (let round = 0; round < settings.rounds; round++) {
    for (const { key, name, threads } of shuffle(running)) {
      if (failed.has(key)) continue;
      try {
        const params = { name, threads, inFlight, warmMsMin: 150, warmMsMax: 750, measuredMs: 250 };
        rates[key].push(await host.probe("flight", params, 20_000));
      } catch (error) {
        failed.set(key, error.message.split("\n")[0]);
      }
    }
  }
  for (const { key, threads, ...subject } of cells) {
    const params = { inFlight, threads };
    const why = failed.get(key) ?? subject.unavailable;
    if (why === undefined) collect.measured("flight", host.name, subject, params, rateOf(rates[key]));
    else collect.absent("flight", host.name, subject, params, why, failed.has(key) ? "failed" : "unavailable");
  }
  const whole = Object.entries(rates).filter(([key]) => !failed.has(key));
  const of = (role) => bestOf(Object.fromEntries(whole.filter(([key]) => roleOf(host.name, key) === role)), "high");
  const best = of("clearway");
  for (const [id, over] of [
    ["flight-over-peer", of("peer")],
    ["flight-over-bare", of("reference")],
  ]) {
    if (best === undefined || over === undefined)
      collect.unmeasured(id, host.name, { of: "clearway" }, "nothing to compare: every run failed", "failed");
    else
      collect.promise(
        id,
        host.name,
        { of: best, over, detail: inThousands(rates, best, over) },
        ratio(rates[best], rates[over]),
      );
  }
}

const roleOf = (host, key) => {
  const [, name, threads] = /^(.*), (\d+)$/.exec(key);
  return subjectOf(host, name, Number(threads)).role;
};

function rateOf(rates) {
  const sorted = [...rates].sort((a, b) => a - b);
  return { rate: { unit: "events/s", value: sorted[Math.floor(sorted.length / 2)] } };
}

function inThousands(rates, ...keys) {
  return `${keys.map((key) => Math.round(rateOf(rates[key]).rate.value / 1000)).join(" over ")} thousand/s`;
}
