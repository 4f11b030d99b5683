// SPDX-License-Identifier: MIT OR Apache-2.0
import { type ClearwayError, type Placement, pool } from "clearway";
import { expect, test } from "vitest";
import { reasonOf, testPool } from "../fixtures/pools.js";
import { type Placed, placedPool, placedUrl } from "./placing.js";

const placements: Placement[] = ["auto", "worker", "inline"];

test("nothing runs inline by default", async () => {
  const made = await placedPool({});
  expect(await made.call.where()).toBe("worker");
  expect(await made.with({ placement: "inline" }).call.where()).toBe("worker");
  await made.advise();
  expect(await made.with({ placement: "inline" }).call.where()).toBe("caller");
});

test("a call's placement overrides the pool's, which overrides the task's", async () => {
  const made = await placedPool({ placement: "inline" });
  expect(await made.call.where()).toBe("caller");
  expect(await made.call.whereAuto()).toBe("caller");
  expect(await made.with({ placement: "worker" }).call.where()).toBe("worker");
  const workers = await placedPool({ placement: "worker" });
  expect(await workers.with({ placement: "inline" }).call.where()).toBe("worker");
  await workers.advise();
  expect(await workers.with({ placement: "inline" }).call.where()).toBe("caller");
});

test.each(placements)("with placement %s, tasks with resources stay in workers", async (placement) => {
  const made = await placedPool({ placement });
  expect(await made.call.whereLeased()).toBe("worker 5");
  expect(await made.call.whereLeasedAuto()).toBe("worker");
});

test("a task with placement worker stays there, whatever the pool and the call ask for", async () => {
  const made = await placedPool({ placement: "inline" });
  expect(await made.with({ placement: "inline" }).call.whereNever()).toBe("worker");
});

test("streams stay in workers", async () => {
  const made = await placedPool({ placement: "inline" });
  for await (const where of made.call.numbers()) expect(where).toBe("worker");
});

test("calls that can be cancelled, have a key or report progress go to workers", async () => {
  const made = await placedPool({ placement: "inline" });
  const { signal } = new AbortController();
  for (const options of [
    { signal },
    { timeoutMs: 1000 },
    { deadlineMs: 1000 },
    { key: "a" },
    { onProgress: () => {} },
  ]) {
    expect(await made.with(options).call.where()).toBe("worker");
  }
  const aborted = made.with({ signal: AbortSignal.abort(new RangeError("gone")) });
  expect(await reasonOf(aborted.call.where())).toBeInstanceOf(RangeError);
});

test("a call with a stream argument goes to a worker, which reads the stream", async () => {
  const made = await placedPool({ placement: "inline" });
  async function* values() {
    yield 1;
  }
  await made.call.keep(values());
  expect(made.stats().tasks["keep"]?.inline).toBe(0);
});

test("with placement auto, calls return the right answers in either place, and each is counted once", async () => {
  const made = await placedPool({ placement: "auto" });
  for (let batch = 0; batch < 30; batch++) {
    const answers = await Promise.all(Array.from({ length: 50 }, (_, at) => made.call.add(at, batch)));
    expect(answers).toEqual(Array.from({ length: 50 }, (_, at) => at + batch));
  }
  const stats = made.stats().tasks["add"]!;
  expect(stats.calls).toBe(1501);
  expect(stats.ok).toBe(1501);
});

test("an inline budget of 0 keeps every call in workers", async () => {
  const made = await placedPool({ placement: "auto", inlineBudgetMs: 0 });
  for (let batch = 0; batch < 20; batch++) {
    await Promise.all(Array.from({ length: 50 }, (_, at) => made.call.add(at, batch)));
  }
  expect(made.stats().tasks["add"]?.inline).toBe(0);
});

test("a task with placement auto makes the pool load its module", async () => {
  const made = await placedPool({});
  expect(await made.call.whereAuto()).toBe("worker");
  const { tasks, notes } = await made.advise();
  expect(notes).toEqual([]);
  expect(tasks.find(({ task }) => task === "whereAuto")?.placement).toBe("auto");
  expect(tasks.find(({ task }) => task === "where")?.placement).toBe("worker");
});

test("a module that the caller cannot load fails no call, and the advice says why", async () => {
  const made = await placedPool({ placement: "inline", module: () => Promise.reject(new Error("no such chunk")) });
  expect(await made.call.where()).toBe("worker");
  expect((await made.advise()).text).toContain("no such chunk");
});

test("a module without tasks fails no call, and the advice says why", async () => {
  const made = await placedPool({ placement: "inline", module: async () => ({}) });
  expect(await made.call.where()).toBe("worker");
  expect((await made.advise()).notes[0]).toContain("exports no tasks");
});

test("the module is loaded once, and only when a call may run inline", async () => {
  let asked = 0;
  const module = async () => {
    asked++;
    return import(/* @vite-ignore */ placedUrl.href);
  };
  const made = await placedPool({ module });
  expect(asked).toBe(0);
  await Promise.all([made.call.whereAuto(), made.call.whereAuto()]);
  await made.advise();
  expect(asked).toBe(1);
  expect(await made.with({ placement: "inline" }).call.where()).toBe("caller");
  expect(asked).toBe(1);
});

test("an invalid placement is refused with its value", () => {
  const thrownBy = (act: () => unknown) => {
    try {
      act();
    } catch (reason) {
      return reason as ClearwayError;
    }
    throw new Error("it did not throw");
  };
  expect(thrownBy(() => pool(placedUrl, { placement: "here" as never })).message).toContain('placement="here"');
  const made = testPool<Placed>(placedUrl);
  expect(thrownBy(() => made.with({ placement: "here" as never })).code).toBe("invalid-argument");
  expect(thrownBy(() => pool(placedUrl, { inlineBudgetMs: -1 })).message).toContain("inlineBudgetMs=-1");
});
