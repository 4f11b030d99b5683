// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs in Node. Measures remote pools over NATS beside bare requests. The server and the worker processes are on this machine.
import { availableParallelism } from "node:os";
import { openRemote } from "../../remote/open.ts";
import { remoteProblem } from "../../remote/programs.ts";
import { median, shuffler } from "../../statistics/rounds.ts";

const bytes = new Uint8Array(8).fill(7);

/** Number of calls before the first round, after which most code is compiled on both sides. */
const warmCalls = 3000;
/** Number of uncounted calls at the start of a turn: the worker has slept during the other mechanism's turn. */
const leadCalls = 100;
const turnCalls = 200;

/** Returns the microseconds of all calls of a turn that is counted. */
async function turn(call) {
  for (let at = 0; at < leadCalls; at++) await call(bytes);
  const us = [];
  for (let at = 0; at < turnCalls; at++) {
    const begin = process.hrtime.bigint();
    await call(bytes);
    us.push(Number(process.hrtime.bigint() - begin) / 1e3);
  }
  return us;
}

/** Small calls, one at a time: for each mechanism, the p50 of every round and all samples, in microseconds. */
async function requests({ rounds, seed }) {
  const remotes = { "nats-request": await openRemote("nats-request", 1), clearway: await openRemote("clearway", 1) };
  try {
    const figures = {};
    for (const [name, { call }] of Object.entries(remotes)) {
      for (let at = 0; at < warmCalls; at++) await call(bytes);
      figures[name] = { p50Us: [], samplesUs: [] };
    }
    const shuffle = shuffler(seed);
    for (let round = -1; round < rounds; round++) {
      for (const name of shuffle(Object.keys(remotes))) {
        const us = await turn(remotes[name].call);
        if (round < 0) continue;
        figures[name].p50Us.push(median(us));
        figures[name].samplesUs.push(...us);
      }
    }
    return figures;
  } finally {
    for (const remote of Object.values(remotes)) await remote.close();
  }
}

const durableInFlight = 1000;
const durableCalls = 10_000;

/** Durable calls per second of every round. */
async function durable({ rounds }) {
  // The caller, the server and the worker process share the cores. With one worker process, none of them waits for another core.
  const remote = await openRemote("clearway-durable", 1);
  try {
    const rates = [];
    for (let round = -1; round < rounds; round++) {
      const ms = await many(() => remote.call(bytes), durableInFlight, durableCalls);
      if (round >= 0) rates.push((durableCalls / ms) * 1000);
    }
    return rates;
  } finally {
    await remote.close();
  }
}

/** Steps of a computing call, which take about 5 ms. */
const steps = 5_000_000;
/** Number of computing calls of a round for each worker process: a round takes half a second. */
const computingCalls = 100;

/** Calls per second that compute, with one worker process and with one for each core, in interleaved rounds. */
async function computing({ rounds, seed }) {
  const cores = availableParallelism();
  const counts = [1, cores];
  const remotes = [];
  try {
    for (const count of counts) remotes.push(await openRemote("clearway", count));
    const rates = counts.map(() => []);
    const shuffle = shuffler(seed);
    for (let round = -1; round < rounds; round++) {
      for (const at of shuffle([0, 1])) {
        const count = counts[at] * computingCalls;
        const ms = await many(() => remotes[at].compute(steps), 4 * counts[at], count);
        if (round >= 0) rates[at].push((count / ms) * 1000);
      }
    }
    return { cores, one: rates[0], each: rates[1] };
  } finally {
    for (const remote of remotes) await remote.close();
  }
}

async function many(call, inFlight, count) {
  let left = count;
  const begin = performance.now();
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (left-- > 0) await call();
    }),
  );
  return performance.now() - begin;
}

const parts = { requests, durable, computing };

/** Measures one part. Returns `{ unavailable }` with the reason and the remedy if it cannot run here. */
export async function remote({ part, ...params }) {
  const unavailable = remoteProblem("nats-server", ["clearway-nats", "@nats-io/transport-node"]);
  return unavailable === undefined ? parts[part](params) : { unavailable };
}
