// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { adviceOf } from "../../src/pool/call/inline.js";
import { PoolTask } from "../../src/pool/schedule/scheduler.js";
import { plainPool } from "../fixtures/pools.js";
import { placedPool } from "./placing.js";

function taskOf(change: Partial<PoolTask>, ...runsUs: number[]): PoolTask {
  const made = Object.assign(new PoolTask("score"), { index: 0, kind: "function", ...change });
  for (let run = 0; run < 16; run++) made.estimate.add(runsUs[run % runsUs.length]!);
  return made;
}

test.each<[saying: string, mayRunInline: boolean, task: PoolTask]>([
  [
    'score() takes 1.4 us, less than 5 ms: it may run on the calling thread, with placement: "inline"',
    true,
    taskOf({}, 1.4),
  ],
  ["takes 4.0 ms, less than 5 ms: it may stay on the calling thread", true, taskOf({ placement: "inline" }, 4000)],
  ["takes 40 ms, more than 5 ms: keep it in a worker", false, taskOf({}, 4e4)],
  ["takes 40 ms, more than 5 ms: move it to a worker", false, taskOf({ placement: "inline" }, 4e4)],
  ["and up to 6.0 ms, more than 5 ms", false, taskOf({}, 1, 1, 1, 6000)],
  ["but it holds a resource", false, taskOf({ placement: "worker" }, 1)],
  ["is a stream", false, taskOf({ kind: "stream" }, 1)],
])("the advisor says: %s", (saying, mayRunInline, task) => {
  const { tasks, text } = adviceOf([task], undefined);
  expect(text).toContain(saying);
  expect(tasks).toMatchObject([{ task: "score", samples: 16, mayRunInline }]);
});

test("the advisor gives no advice after fewer than 16 runs", () => {
  const task = Object.assign(new PoolTask("score"), { index: 0, kind: "function" });
  for (let run = 0; run < 15; run++) task.estimate.add(1);
  const [advice] = adviceOf([task], undefined).tasks;
  expect(advice).toMatchObject({ advice: "score() was measured 15 times: too little to say", runUs: undefined });
  expect(advice!.mayRunInline).toBeUndefined();
});

test("the advisor leaves out names that the module does not expose, and puts notes last", () => {
  expect(adviceOf([new PoolTask("nothing"), taskOf({}, 1)], "no module").text).toMatch(
    /^score\(\) .*\nNothing runs inline: no module\.$/,
  );
});

test("a pool is advised by its workers' measurements, and no task runs for it", async () => {
  const pool = plainPool();
  for (let call = 0; call < 20; call++) await pool.call.add(call);
  const advice = await pool.advise();
  expect(advice.tasks.find(({ task }) => task === "add")).toMatchObject({
    placement: "worker",
    calls: 20,
    samples: 20,
  });
  expect(JSON.parse(JSON.stringify(advice)).tasks).toHaveLength(advice.tasks.length);
  expect(pool.stats().tasks["add"]?.calls).toBe(20);
});

test("runs on the calling thread are measured too", async () => {
  const { call, advise } = await placedPool("inline");
  for (let run = 0; run < 20; run++) await call.add(run, run);
  const { tasks } = await advise();
  expect(tasks.find(({ task }) => task === "add")).toMatchObject({ calls: 20, samples: 20 });
});
