// SPDX-License-Identifier: MIT OR Apache-2.0
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { mechanisms } from "./mechanisms/mechanisms.mjs";
import { ratio, rounds, spread } from "./rounds.mjs";

const once = fileURLToPath(new URL("throughput-once.mjs", import.meta.url));
const run = promisify(execFile);

/**
 * 1000 trivial calls in flight: tasks a second, with one worker and with two; Clearway's over each peer's in its round.
 * Each measurement is a fresh process: pools in one process share a heap, and the garbage of one is collected in the
 * time of another.
 */
export async function throughput(count, seed) {
  const subjects = [1, 2].flatMap((threads) =>
    mechanisms(threads).map(({ name, role, settings }) => ({
      name: `${name}, ${threads}`,
      role,
      settings,
      args: [once, name, String(threads)],
    })),
  );
  const figures = await rounds(subjects, count, seed, async ({ args }) => {
    const { stdout } = await run(process.execPath, args);
    return Number(stdout);
  });
  const best = bestOf("clearway", subjects, figures);
  const bestPeer = bestOf("peer", subjects, figures);
  return {
    bestClearway: best,
    bestPeer,
    clearwayOverBestPeer: ratio(figures.get(best), figures.get(bestPeer)),
    cells: subjects.map(({ name, role, settings }) => ({
      name,
      role,
      settings,
      tasksPerSecond: spread(figures.get(name)),
      clearwayOverThis: ratio(figures.get(best), figures.get(name)),
    })),
  };
}

function bestOf(role, subjects, figures) {
  const own = subjects.filter((each) => each.role === role).map(({ name }) => name);
  return own.sort((a, b) => spread(figures.get(b)).median - spread(figures.get(a)).median)[0];
}
