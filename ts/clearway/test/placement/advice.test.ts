// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { type AdviserOwner, adviceOf, advise, type Facts, textOf } from "../../src/placement/advice.js";
import { threadClock } from "../../src/placement/turn.js";
import { TaskRecord } from "../../src/pool/schedule/task-stats.js";
import { plainPool } from "../fixtures/pools.js";

const facts: Facts = {
  task: "score",
  placement: "worker",
  movable: true,
  stream: false,
  calls: 1000,
  inline: 0,
  samples: 1000,
  runUs: 0.4,
  upperUs: 2,
  hopUs: 12,
  inlineUs: undefined,
};

test.each<[saying: string, change: Partial<Facts>]>([
  ['score() takes 0.4 us and its hop costs 12 us: 31 times faster inline; mark it placement: "auto"', {}],
  [
    "takes 40 ms, more than the 1.0 ms that may hold the caller's thread: keep it in the worker",
    { runUs: 4e4, upperUs: 4e4 },
  ],
  ["and up to 5.0 ms, more than the 1.0 ms", { upperUs: 5000 }],
  ["move it to a worker", { placement: "inline", runUs: 4e4, upperUs: 4e4 }],
  ["auto sees to it", { placement: "auto", inline: 900, inlineUs: 0.3 }],
  ["the worker is faster", { runUs: 100, upperUs: 128, inlineUs: 300 }],
  ["either place will do", { runUs: 100, upperUs: 128, hopUs: 10 }],
  ["holds a resource", { movable: false }],
  ["is a stream", { stream: true }],
  ["was measured 3 times: too little to say", { samples: 3 }],
  ["what its hop costs is not known", { hopUs: undefined }],
])("the advisor says: %s", (saying, change) => {
  expect(adviceOf({ ...facts, ...change }, 1000).advice).toContain(saying);
});

test.each([
  ["a little faster inline", 10, 1 / 1.1],
  ["a little faster in a worker", -10, 1 / 0.9],
])("the advice for a task that is %s names the worker, with the factor of worker to inline", (_how, hopUs, factor) => {
  const advice = adviceOf({ ...facts, runUs: 100, upperUs: 128, hopUs }, 1000);
  expect(advice.better).toBe("worker");
  expect(advice.factor).toBeCloseTo(factor);
});

test("the largest gain comes first, and notes come last", () => {
  const small = adviceOf({ ...facts, task: "small", hopUs: 2 }, 1000);
  const text = textOf([small, adviceOf(facts, 1000)], ["note"]).split("\n");
  expect(text[0]).toMatch(/^score/);
  expect(text[1]).toMatch(/^small/);
  expect(text[2]).toBe("note");
});

test("a pool that only uses workers is advised by its workers' measurements", async () => {
  const pool = plainPool();
  for (let call = 0; call < 20; call++) await pool.call.add(call);
  const advice = await pool.advise();
  const add = advice.tasks.find(({ task }) => task === "add")!;
  expect(add).toMatchObject({ placement: "worker", calls: 20, samples: 20, inlineShare: 0 });
  expect(add.hopUs).toBeGreaterThan(0);
  expect(advice.text).toContain("add() ");
  expect(JSON.parse(JSON.stringify(advice)).tasks).toHaveLength(advice.tasks.length);
  expect(pool.stats().tasks["add"]?.calls).toBe(20);
});

test.each([
  [1, 40],
  [100, 40],
  [100, 9],
])(
  "on a clock with steps of %i us, a hop of %i us is measured to within a tenth, without a pause of 5 ms",
  async (step, hop) => {
    let nowUs = 0;
    let pings = 0;
    const clock = { ...threadClock, nowUs: () => Math.floor(nowUs / step) * step };
    const record = Object.assign(new TaskRecord("score"), { index: 0 });
    for (let run = 0; run < 20; run++) record.estimate.add(1);
    const owner: AdviserOwner = {
      records: new Map([["score", record]]),
      workers: { count: () => 1 },
      ping: async () => {
        pings++;
        nowUs += pings === 5 ? hop + 5000 : hop;
      },
    };
    const known = () => ({ model: undefined, placement: "worker" as const });
    const [advice] = (await advise(owner, clock, 1000, known, [])).tasks;
    expect(advice?.hopUs).toBeGreaterThan(hop * 0.9);
    expect(advice?.hopUs).toBeLessThan(hop * 1.1);
  },
);
