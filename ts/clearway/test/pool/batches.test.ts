// SPDX-License-Identifier: MIT OR Apache-2.0
import { move, type Pool } from "clearway";
import { describe, expect, test } from "vitest";
import { movable } from "../fixtures/capabilities.js";
import { hostileValues } from "../fixtures/hostile-values.js";
import { builtUrl, groupPool, type Plain, plainPool, plainUrl, reasonOf } from "../fixtures/pools.js";

const outcomeOf = (promise: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(promise).then(
    () => "result",
    (reason: { code?: unknown }) => reason.code ?? "its own error",
  );

/** Makes a call with a hostile argument among others, in one batch. Returns what came of it. */
async function amongOthers({ call }: Pool<Plain>, make: () => unknown): Promise<unknown> {
  const moved = () => move({ bytes: new Uint8Array(600).fill(7) });
  // A date goes by port. The batch is posted when a call that moves memory follows, or at the end of the tick.
  const neighbours = [call.echo(new Date(1)), call.echo(moved()), call.echo(new Date(2))];
  const bad = outcomeOf(call.echo(make()));
  neighbours.push(call.echo(moved()), call.echo(new Date(3)), call.add(1, 2));
  const bytes = { bytes: new Uint8Array(600).fill(7) };
  expect(await Promise.all(neighbours)).toEqual([new Date(1), bytes, new Date(2), bytes, new Date(3), 3]);
  return bad;
}

describe("an argument in one batch with others", () => {
  const warmPool = groupPool<Plain>(plainUrl);
  test.each(hostileValues)("fails only its own call: %s", async (_value, make, refused = true) => {
    const pool = warmPool();
    await pool.ready();
    const bad = await amongOthers(pool, make);
    expect(refused ? ["not-cloneable"] : ["result", "not-cloneable"]).toContain(bad);
    expect(pool.stats().workers.restarts).toBe(0);
    expect(await pool.call.add(1, 2)).toBe(3);
  });

  test("fails only its own call on a cold pool, whatever the other calls in the batch have", async () => {
    const pool = plainPool();
    const outcomes = await Promise.all(
      hostileValues.map(
        async ([name, make, refused = true]) => [name, refused, await amongOthers(pool, make)] as const,
      ),
    );
    for (const [name, refused, bad] of outcomes)
      expect(refused ? ["not-cloneable"] : ["result", "not-cloneable"], name).toContain(bad);
    expect(pool.stats().workers.restarts).toBe(0);
    expect(await pool.call.add(1, 2)).toBe(3);
  });
});

describe("a value of a stream into a task, in one batch with calls:", () => {
  const warmPool = groupPool<Plain>(plainUrl);
  test.each(hostileValues)("%s fails only that stream's call", async (_value, make, refused = true) => {
    const pool = warmPool();
    await pool.ready();
    const { call } = pool;
    async function* values() {
      yield new Date(1);
      yield make();
    }
    async function* others() {
      for (let at = 0; at < 20; at++) yield move(new Uint8Array(600));
    }
    const neighbour = call.total(others());
    const bad = outcomeOf((call as unknown as { total(values: unknown): Promise<number> } & Plain).total(values()));
    expect(await Promise.all([neighbour, call.echo(new Date(2))])).toEqual([20, new Date(2)]);
    if (refused) expect(await bad).toBe("not-cloneable");
    else expect(["result", "not-cloneable"]).toContain(await bad);
    expect(pool.stats().workers.restarts).toBe(0);
  });
});

describe("a result in one batch with others:", () => {
  const warmPool = groupPool<typeof import("../fixtures/values.tasks.js")>(builtUrl("values"));
  test.each(hostileValues)("%s fails only its own call", async (name, _make, expected = true) => {
    const refused = expected && !/getter|one buffer twice/.test(name);
    const pool = warmPool();
    await pool.ready();
    const { call } = pool;
    const [bytes, date] = [new Uint8Array(600).fill(7), new Date(1)];
    const neighbours = () => [call.bytes(), call.date(), call.stream()];
    const before = neighbours();
    const bad = outcomeOf(call.hostile(name));
    const settled = await Promise.all([...before, ...neighbours()]);
    expect(settled).toEqual([
      bytes,
      date,
      expect.any(movable().constructor),
      bytes,
      date,
      expect.any(movable().constructor),
    ]);
    // A result's getter is code of the task, and its error reaches the caller as it is. Memory that the host refuses to move is copied.
    expect(["not-cloneable", "its own error", "result"].slice(0, refused ? 1 : 3)).toContain(await bad);
    expect(pool.stats().workers.restarts).toBe(0);
  });
});

// Structured clone recurses: a value nested too deep can be posted but not read, and the receiver then loses the whole message.
function nest(depth: number): unknown {
  let value: unknown = "inside";
  for (let at = 0; at < depth; at++) value = { value };
  return value;
}

const shared = groupPool<Plain>(plainUrl);
const refusal = { name: "ClearwayError", code: "not-cloneable", message: expect.stringContaining("500 deep") };

describe.each([600, 1_500, 2_050, 3_000, 6_000, 20_000])("values nested %i levels deep", (depth) => {
  test("in an argument fail that call, and no other call of the same tick", async () => {
    const { call, ...pool } = shared();
    await call.add(1, 2);
    const answers = Array.from({ length: 100 }, (_, at) =>
      at === 50 ? reasonOf(call.echo(nest(depth))) : call.add(at, 1),
    );
    const all = await Promise.all(answers);
    expect(all.splice(50, 1)[0]).toMatchObject(refusal);
    expect(all).toEqual(Array.from({ length: 100 }, (_, at) => at + 1).filter((each) => each !== 51));
    expect(pool.stats()).toMatchObject({ open: 0, workers: { restarts: 0 } });
  });

  test("in a result fail that call, and no other call of the same tick", async () => {
    const { call, ...pool } = shared();
    expect(await reasonOf(call.nest(depth))).toMatchObject(refusal);
    const all = await Promise.all([call.add(1, 1), reasonOf(call.nest(depth)), call.add(2, 1)]);
    expect(all).toEqual([2, expect.objectContaining(refusal), 3]);
    expect(pool.stats()).toMatchObject({ open: 0, workers: { restarts: 0 } });
  });

  test("in a stream fail the stream, in either direction", async () => {
    const { call } = shared();
    const seen: unknown[] = [];
    const read = async (): Promise<void> => {
      for await (const each of call.yieldsNested(depth)) seen.push(each);
    };
    expect(await reasonOf(read())).toMatchObject(refusal);
    expect(seen).toEqual([1]);
    async function* source() {
      yield nest(depth);
    }
    expect(await reasonOf(call.total(source()))).toMatchObject(refusal);
  });

  test("in an error's property or in progress are replaced by a description or an error", async () => {
    const pool = shared();
    expect(await reasonOf(pool.call.throwsNested(depth))).toMatchObject({
      name: "RangeError",
      message: "deep",
      code: 7,
      detail: expect.stringContaining("not cloneable"),
    });
    const told: unknown[] = [];
    const { call } = pool.with({ onProgress: (value) => told.push(value) });
    expect(await call.reportsNested(depth)).toBe("done");
    expect(told).toEqual([expect.objectContaining({ code: "not-cloneable" })]);
  });
});

test("values nested to the limit cross in both directions", async () => {
  const { call } = shared();
  expect(await call.echo(nest(499))).toEqual(nest(499));
});

test("a value whose depth the search cannot see fails at most its own call", async () => {
  const { call, ...pool } = shared();
  await call.add(1, 2);
  // Chromium cannot read this value, Node can.
  const hidden = Object.assign([], { hidden: nest(3_000) });
  const answer = await Promise.allSettled([call.echo(hidden)]);
  if (answer[0]?.status === "rejected") expect(answer[0].reason.code).toMatch(/message-error|not-cloneable/);
  expect(await call.add(2, 2)).toBe(4);
  expect(pool.stats().open).toBe(0);
});
