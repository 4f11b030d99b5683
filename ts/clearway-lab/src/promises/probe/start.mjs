// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs in Node or in a page. Measures the time from creating a mechanism with one worker to its first result.
// Each mechanism runs once per round.
import { shuffler } from "../../statistics/rounds.ts";

/** Returns the milliseconds of every round, by mechanism. */
export async function start({ rounds, seed }, host) {
  const mechanisms = host.mechanisms(1).filter(({ unavailable }) => unavailable === undefined);
  const figures = Object.fromEntries(mechanisms.map(({ name }) => [name, []]));
  const shuffle = shuffler(seed);
  for (let round = -1; round < rounds; round++) {
    for (const { name, start } of shuffle(mechanisms)) {
      const begin = performance.now();
      const { call, stop } = await start();
      await call(1);
      const elapsed = performance.now() - begin;
      await stop();
      if (round >= 0) figures[name].push(elapsed);
    }
  }
  return figures;
}
