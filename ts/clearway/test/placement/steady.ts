// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Call, Played, World } from "./world.js";

/** Plays a workload until its placement is steady, then compares its cost with either place alone. */
export function steady(world: World, calls: () => Call[], warmUp = 400, rounds = 600) {
  for (let round = 0; round < warmUp; round++) world.batch(calls());
  const sum = { auto: 0, inline: 0, worker: 0, longestUs: 0, heldUs: 0, stallUs: 0, calls: 0, ranInline: 0 };
  for (let round = 0; round < rounds; round++) {
    const batch = calls();
    const played: Played = world.batch(batch);
    sum.auto += played.totalUs;
    sum.ranInline += played.inline;
    sum.calls += batch.length;
    sum.longestUs = Math.max(sum.longestUs, played.longestUs);
    sum.heldUs = Math.max(sum.heldUs, played.heldUs);
    sum.stallUs = Math.max(sum.stallUs, played.stallUs);
    sum.inline += world.batch(batch, "inline").totalUs;
    sum.worker += world.batch(batch, "worker").totalUs;
  }
  return { ...sum, regret: sum.auto / Math.min(sum.inline, sum.worker) - 1 };
}
