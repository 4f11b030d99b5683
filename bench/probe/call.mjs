// SPDX-License-Identifier: MIT OR Apache-2.0
// Measured on the host: one trivial call after the other, on warm workers, in slices that take turns.
import { median, shuffler } from "../statistics.mjs";

/**
 * `state`: see host/cores.mjs. Each plan has `gapMs`, slept before each call; `roles`, whose turn it is;
 * and `rounds` of so many `passes` over the subjects, each with a `slice` of calls. `group`: calls behind one reading of
 * the clock, for clocks with coarse steps. Returns for each plan and subject the p50 of each round, all samples, in
 * microseconds, and whether both threads stood on one core.
 */
export async function call({ state, plans, group, seed }, host) {
  const running = [];
  for (const subject of withTwin(host.subjects(1))) {
    if (subject.unavailable !== undefined) continue;
    let made;
    const threads = await host.newThreads(async () => {
      made = await subject.start();
      for (let at = 0; at < warmCalls; at++) await made.call(at);
    });
    running.push({ name: subject.name, role: subject.role, ...made, onOneCore: host.watchCores(threads) });
  }
  if (state !== "free") await host.standApart();
  const shuffle = shuffler(seed);
  const all = [];
  for (const { gapMs, passes, slice, rounds, roles } of plans) {
    const taking = running.filter(({ role }) => roles.includes(role));
    const figures = Object.fromEntries(taking.map(({ name }) => [name, { p50Us: [], samplesUs: [], onOneCore: [] }]));
    // The first round is for the caches.
    for (let round = -1; round < rounds; round++) {
      const seen = new Map(taking.map(({ name }) => [name, { samples: [], cores: [] }]));
      for (let pass = 0; pass < passes; pass++) {
        for (const { name, call, onOneCore } of shuffle(taking)) {
          const { samples, cores } = seen.get(name);
          await takeSlice(call, { slice, gapMs, group: gapMs > 0 ? 1 : group }, samples, host);
          cores.push(onOneCore());
        }
      }
      if (round < 0) continue;
      for (const [name, { samples, cores }] of seen) {
        figures[name].p50Us.push(median(samples));
        figures[name].samplesUs.push(...samples);
        figures[name].onOneCore.push(agreed(cores));
      }
    }
    all.push(figures);
  }
  for (const { stop } of running) await stop();
  return all;
}

/** Compiles what is called. The first round, which is not counted, does the rest. */
const warmCalls = 2000;
/**
 * Calls at the head of a slice that are not counted: the worker has slept while the others had their turn, and a carrier
 * that tunes its waiting needs up to 200 calls to trust the machine again. What a first call costs is the gap's question.
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

/** True or false when all passes of a round saw the same, "both" when they did not, null when nothing could be seen. */
function agreed(cores) {
  return cores.every((each) => each === cores[0]) ? cores[0] : "both";
}

/** The reference once more, with a worker of its own: how far the same thing lies from itself. */
function withTwin(subjects) {
  const reference = subjects.find(({ role }) => role === "reference");
  return [...subjects, { ...reference, name: twinOf(reference.name) }];
}

export const twinOf = (name) => `${name} again`;
