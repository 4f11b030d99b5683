// SPDX-License-Identifier: MIT OR Apache-2.0
// Structured clone recurses: a value nested too deep can be posted but not read, and the receiver then loses the whole message.
import { describe, expect, test } from "vitest";
import { plainPool, reasonOf } from "../fixtures/pools.js";

function nest(depth: number): unknown {
  let value: unknown = "inside";
  for (let at = 0; at < depth; at++) value = { value };
  return value;
}

const refusal = { name: "ClearwayError", code: "not-cloneable", message: expect.stringContaining("500 deep") };

describe.each([600, 1_500, 2_050, 3_000, 6_000, 20_000])("values nested %i levels deep", (depth) => {
  test("in an argument fail that call, and no other call of the same tick", async () => {
    const { call, ...pool } = plainPool();
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
    const { call, ...pool } = plainPool();
    expect(await reasonOf(call.nest(depth))).toMatchObject(refusal);
    const all = await Promise.all([call.add(1, 1), reasonOf(call.nest(depth)), call.add(2, 1)]);
    expect(all).toEqual([2, expect.objectContaining(refusal), 3]);
    expect(pool.stats()).toMatchObject({ open: 0, workers: { restarts: 0 } });
  });

  test("in a stream fail the stream, in either direction", async () => {
    const { call } = plainPool();
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
    const pool = plainPool();
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
  const { call } = plainPool();
  expect(await call.echo(nest(499))).toEqual(nest(499));
});

test("a value whose depth the search cannot see fails at most its own call", async () => {
  const { call, ...pool } = plainPool();
  await call.add(1, 2);
  // Chromium cannot read this value, Node can.
  const hidden = Object.assign([], { hidden: nest(3_000) });
  const answer = await Promise.allSettled([call.echo(hidden)]);
  if (answer[0]?.status === "rejected") expect(answer[0].reason.code).toMatch(/message-error|not-cloneable/);
  expect(await call.add(2, 2)).toBe(4);
  expect(pool.stats().open).toBe(0);
});
