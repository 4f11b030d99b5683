// SPDX-License-Identifier: MIT OR Apache-2.0
// Measured on the host: one trivial call after the other, on warm workers, in slices that take turns.
import { median, shuffler } from "../statistics.mjs";

/**
 * `state`: see host/cores.mjs. Each plan has `gapMs`, slept before each call, and `slice` and `rounds`. `group`: calls
 * behind one reading of the clock, for clocks with coarse steps. Returns for each plan and subject the p50 of each
 * round's slice, and all samples, in microseconds.
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
    running.push({ name: subject.name, ...made, onOneCore: host.watchCores(threads) });
  }
  if (state !== "free") await host.standApart();
  const shuffle = shuffler(seed);
  const all = [];
  for (const { gapMs, slice, rounds } of plans) {
    const figures = Object.fromEntries(running.map(({ name }) => [name, { p50Us: [], samplesUs: [], onOneCore: [] }]));
    // The first round is for the caches.
    for (let round = -1; round < rounds; round++) {
      for (const { name, call, onOneCore } of shuffle(running)) {
        const samples = await sliceOf(call, slice, gapMs, gapMs > 0 ? 1 : group, host);
        if (round < 0) continue;
        figures[name].p50Us.push(median(samples));
        figures[name].samplesUs.push(...samples);
        figures[name].onOneCore.push(onOneCore());
      }
    }
    all.push(figures);
  }
  for (const { stop } of running) await stop();
  return all;
}

/** Compiles what is called. The first round, which is not counted, does the rest. */
const warmCalls = 2000;
/** Calls at the head of a slice that are not counted: the worker has slept while the others had their turn. */
const leadCalls = 20;

async function sliceOf(call, slice, gapMs, group, host) {
  const samples = [];
  if (gapMs === 0) for (let at = 0; at < leadCalls; at++) await call(at);
  for (let at = 0; at < slice; at++) {
    if (gapMs > 0) await host.sleep(gapMs);
    const begin = performance.now();
    for (let each = 0; each < group; each++) await call(at);
    samples.push(((performance.now() - begin) * 1000) / group);
  }
  return samples;
}

/** The reference once more, with a worker of its own: how far the same thing lies from itself. */
function withTwin(subjects) {
  const reference = subjects.find(({ role }) => role === "reference");
  return [...subjects, { ...reference, name: twinOf(reference.name) }];
}

export const twinOf = (name) => `${name} again`;
