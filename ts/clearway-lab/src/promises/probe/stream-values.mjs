// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs in Node or in a page. Measures small objects from a worker to the main thread: values per second, and the time of each to its reader.
// A bare worker posts each object in a message of its own. All ways take turns in one process.
import { nowMs } from "../worker/values-make.mjs";

const everyMs = 1;

/** Returns the values per second and the median latency in microseconds of every round, by way. The order changes with each round. */
export async function streamValues({ rounds, values, paced }, host) {
  const ways = await open(host);
  const figures = Object.fromEntries(ways.map(({ name }) => [name, { valuesPerSecond: [], latencyUs: [] }]));
  for (let round = 0; round <= rounds; round++) {
    const order = ways.map((_, at) => ways[(at + round) % ways.length]);
    for (const { name, read } of order) {
      const begin = performance.now();
      const count = await read(values, 0, () => {});
      if (count !== values) throw new Error(`${name}: values=${count} of ${values}`);
      // The first round compiles the code.
      if (round > 0) figures[name].valuesPerSecond.push((values / (performance.now() - begin)) * 1000);
    }
    for (const { name, read } of order) {
      const us = [];
      await read(paced, everyMs, ({ sentMs }) => us.push((nowMs() - sentMs) * 1000));
      if (round > 0) figures[name].latencyUs.push(us.sort((a, b) => a - b)[us.length >> 1]);
    }
  }
  await Promise.all(ways.map(({ stop }) => stop()));
  return figures;
}

async function open(host) {
  const ways = [bare(host)];
  for (const mechanism of host.mechanisms(1).filter(({ role, unavailable }) => role === "clearway" && !unavailable)) {
    const { call, pool, stop } = await mechanism.start();
    // The first answers open the ring, where there is one.
    for (let at = 0; at < 100; at++) await call(at);
    const stream = (count, ms) => (ms > 0 ? pool.call.paced(count, ms) : pool.call.values(count));
    const one = async (count, ms, each) => {
      let read = 0;
      for await (const value of stream(count, ms)) {
        read++;
        each(value);
      }
      return read;
    };
    const arrays = async (count, ms, each) => {
      let read = 0;
      for await (const batch of stream(count, ms).batches()) {
        read += batch.length;
        for (const value of batch) each(value);
      }
      return read;
    };
    ways.push(
      { name: mechanism.name, read: one, stop },
      { name: `${mechanism.name}, batches()`, read: arrays, stop: () => {} },
    );
  }
  return ways;
}

function bare(host) {
  const worker = host.openWorker(host.workerUrl("values"));
  let received = () => {};
  worker.listen((value) => received(value));
  const read = (count, ms, each) =>
    new Promise((resolve) => {
      let seen = 0;
      received = (value) => {
        each(value);
        if (++seen === count) resolve(seen);
      };
      worker.post({ count, everyMs: ms });
    });
  return { name: "postMessage", read, stop: () => worker.end() };
}
