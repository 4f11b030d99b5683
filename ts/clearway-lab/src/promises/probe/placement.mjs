// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs in Node or in a page. Measures batches of calls with `placement` auto, inline and worker on one pool, interleaved. All calls of a
// batch start in one turn of the event loop and are awaited together. Also measures how long starting a batch blocks the thread.
import { pool } from "clearway";
import { shuffler } from "../../statistics/rounds.ts";

const numbers = Array.from({ length: 1000 }, (_, at) => at);

// A round of arithmetic has twenty batches, because reading the clock would dominate a single batch. Calls with lists need some
// thousand calls before auto is steady, because their code is compiled late. Work that never runs inline needs almost no warm-up.
const kinds = {
  arithmetic: { batches: 20, warmUp: 400, argument: (at) => at },
  lists: { batches: 4, warmUp: 300, argument: () => numbers },
  oneMs: { batches: 1, warmUp: 2, argument: (at) => at },
  tenMs: { batches: 1, warmUp: 1, argument: (at) => at },
};

/** Returns, by kind of work and placement, `ms` per batch, and `heldMs`, the longest time for which a batch blocked the thread. */
export async function placement({ rounds, calls, seed }, host) {
  const workers = pool(host.workerUrl("placed.tasks"), { size: 2 });
  await workers.ready();
  const callers = Object.fromEntries(
    ["auto", "inline", "worker"].map((placement) => [placement, workers.with({ placement }).call]),
  );
  // The first call requests the module on this thread. The advisor waits until the module is loaded.
  await workers.advise();
  await callers.auto.arithmetic(1);
  await workers.advise();
  const shuffle = shuffler(seed);
  const figures = {};
  for (const [kind, { batches, warmUp, argument }] of Object.entries(kinds)) {
    const own = Object.fromEntries(Object.keys(callers).map((name) => [name, { ms: [], heldMs: [] }]));
    for (let round = 0; round < warmUp; round++) {
      for (const name of Object.keys(callers)) {
        if (name !== "inline" || batches > 1) await batch(callers[name], kind, argument, calls, host);
      }
    }
    // During these calls auto has the pool to itself and becomes steady. Its measurements of a worker call then no longer include
    // effects of the other mechanisms.
    for (let round = 0; round < warmUp; round++) await batch(callers.auto, kind, argument, calls, host);
    const roundCount = batches === 1 ? Math.min(rounds, 5) : rounds;
    for (let round = 0; round < roundCount; round++) {
      for (const name of shuffle(Object.keys(callers))) {
        let ms = 0;
        let heldMs = 0;
        for (let at = 0; at < batches; at++) {
          const one = await batch(callers[name], kind, argument, calls, host);
          ms += one.ms;
          heldMs = Math.max(heldMs, one.heldMs);
        }
        own[name].ms.push(ms / batches);
        own[name].heldMs.push(heldMs);
      }
    }
    figures[kind] = { ...own, inlineShare: workers.stats().tasks[kind].inline / workers.stats().tasks[kind].calls };
  }
  const { text } = await workers.advise();
  await workers.close();
  return { figures, text };
}

async function batch(tasks, kind, argument, calls, host) {
  const task = tasks[kind];
  const answers = new Array(calls);
  const begin = performance.now();
  for (let at = 0; at < calls; at++) answers[at] = task(argument(at));
  const heldMs = performance.now() - begin;
  await Promise.all(answers);
  const ms = performance.now() - begin;
  // Each batch runs in a separate turn, as in an app.
  await host.sleep(0);
  return { ms, heldMs };
}
