// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs in Node. Measures one case of channel-cases.mjs: its mechanisms in interleaved rounds of one process.
import { inFlight, laneCalls } from "../../channel/drive.ts";
import { median, shuffler } from "../../statistics/rounds.ts";
import { cases } from "../channel-cases.mjs";

/** The number of uncounted rounds. V8 compiles the functions of a message within about two thousand calls. */
const warmRounds = 4;

/**
 * Returns, by mechanism, its role and the microseconds per round trip of every round: the median of calls one at a time, and the mean with
 * three in flight. `without` names mechanisms that cannot run here, with the reason.
 */
export async function channel({ name, rounds, calls, seed }) {
  const { params, ways, share = 1 } = cases[name];
  const figures = {};
  const without = {};
  const opened = [];
  try {
    for (const [way, { role, open }] of Object.entries(ways)) {
      try {
        const { caller, end } = await open(params);
        opened.push({ way, caller, end, once: laneCalls(caller, params) });
        figures[way] = { role, oneUs: [], threeUs: [], copiedBytes: null };
      } catch (error) {
        if (role === "clearway") throw error;
        without[way] = String(error.message).split("\n")[0];
      }
    }
    const messages = Math.max(3, Math.round(calls * share));
    const shuffle = shuffler(seed);
    for (let round = -warmRounds; round < rounds; round++) {
      for (const { way, once } of shuffle(opened)) {
        const { oneNs, three } = await inFlight(once, messages);
        if (round < 0) continue;
        figures[way].oneUs.push(median([...oneNs]) / 1000);
        figures[way].threeUs.push((three.ms * 1000) / messages);
      }
    }
    for (const { way, caller, once } of opened) {
      const before = caller.copiedBytes?.();
      await once(0);
      if (before !== undefined) figures[way].copiedBytes = caller.copiedBytes() - before;
    }
    return { figures, without };
  } finally {
    for (const { caller, end } of opened) {
      await caller.close();
      await end();
    }
  }
}
