// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs in Node or in a page. Measures consecutive trivial calls on warm workers, in interleaved slices.
import { median, shuffler } from "../../statistics/rounds.ts";

/**
 * Measures the calls of each mechanism. machine/cores.ts describes `state`. Each of the `plans` has `gapMs` (the sleep before each call),
 * `roles` (the roles of its mechanisms) and `rounds`. A round has `passes` over the mechanisms. In a pass, each mechanism makes a `slice`
 * of calls. `group` is the number of calls per reading of the clock, for clocks with large steps. Returns, for each plan and mechanism, the
 * p50 of each round and all samples, both in microseconds, and whether both threads were on one core.
 */
export async function call({ state, plans, group, seed }, host) {
  const running = [];
  for (const mechanism of withTwin(host.mechanisms(1))) {
    if (mechanism.unavailable !== undefined) continue;
    let instance;
    const threads = await host.threadsStartedBy(async () => {
      instance = await mechanism.start();
      for (let at = 0; at < warmCalls; at++) await instance.call(at);
    });
    running.push({ name: mechanism.name, role: mechanism.role, ...instance, onOneCore: host.watchCores(threads) });
  }
  if (state !== "free") await host.pinToTwoCores();
  const shuffle = shuffler(seed);
  const figuresByPlan = [];
  for (const { gapMs, passes, slice, rounds, roles } of plans) {
    const compared = running.filter(({ role }) => roles.includes(role));
    const figures = Object.fromEntries(compared.map(({ name }) => [name, { p50Us: [], samplesUs: [], onOneCore: [] }]));
    // Round -1 fills the caches. It is not counted.
    for (let round = -1; round < rounds; round++) {
      const roundFigures = new Map(compared.map(({ name }) => [name, { samples: [], cores: [] }]));
      for (let pass = 0; pass < passes; pass++) {
        for (const { name, call, onOneCore } of shuffle(compared)) {
          const { samples, cores } = roundFigures.get(name);
          await takeSlice(call, { slice, gapMs, group: gapMs > 0 ? 1 : group }, samples, host);
          cores.push(onOneCore());
        }
      }
      if (round < 0) continue;
      for (const [name, { samples, cores }] of roundFigures) {
        figures[name].p50Us.push(median(samples));
        figures[name].samplesUs.push(...samples);
        figures[name].onOneCore.push(commonValue(cores));
      }
    }
    figuresByPlan.push(figures);
  }
  for (const { stop } of running) await stop();
  return figuresByPlan;
}

/** The number of calls after which most code is compiled. The round that is not counted completes the compilation. */
const warmCalls = 2000;
/**
 * The number of uncounted calls at the start of a slice. The worker has slept during the other mechanisms' slices. A mechanism that adapts
 * how long it spins needs up to 200 calls to adapt again. The plan with a gap has none, because it measures first calls.
 */
const leadCalls = 300;

async function takeSlice(call, { slice, gapMs, group }, samples, host) {
  if (gapMs === 0) for (let at = 0; at < leadCalls; at++) await call(at);
  for (let at = 0; at < slice; at++) {
    if (gapMs > 0) await host.sleep(gapMs);
    const begin = performance.now();
    for (let each = 0; each < group; each++) await call(at);
    samples.push(((performance.now() - begin) * 1000) / group);
  }
}

/** Returns the common value of all passes of a round: true, false, or null if unknown. Returns "both" if the passes differ. */
function commonValue(cores) {
  return cores.every((each) => each === cores[0]) ? cores[0] : "both";
}

/** Adds the reference a second time, with a separate worker. The pair shows the difference between equal mechanisms. */
function withTwin(mechanisms) {
  const reference = mechanisms.find(({ role }) => role === "reference");
  return [...mechanisms, { ...reference, name: twinOf(reference.name) }];
}

export const twinOf = (name) => `${name} again`;
