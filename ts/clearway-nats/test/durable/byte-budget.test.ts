// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { ByteBudget } from "../../src/durable/byte-budget.js";

// Takes bytes for calls with names. Returns the names of those that have them, and what gives them back.
async function taken(budget: ByteBudget, calls: Record<string, number>) {
  const have: string[] = [];
  const give = new Map<string, () => void>();
  for (const [name, bytes] of Object.entries(calls)) {
    void budget.take(bytes).then((each) => {
      have.push(name);
      give.set(name, each);
    });
  }
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  await turn();
  const release = async (name: string): Promise<void> => {
    give.get(name)!();
    await turn();
  };
  return { have, release };
}

test("calls have bytes up to the maximum, and the others wait in order", async () => {
  const { have, release } = await taken(new ByteBudget(10), { a: 6, b: 4, c: 3, d: 2, e: 5 });
  expect(have).toEqual(["a", "b"]);
  await release("b");
  expect(have).toEqual(["a", "b", "c"]);
  await release("a");
  expect(have).toEqual(["a", "b", "c", "d", "e"]);
});

test("a call that needs more than the maximum has it alone", async () => {
  const { have, release } = await taken(new ByteBudget(10), { a: 1, large: 11, b: 1 });
  expect(have).toEqual(["a"]);
  await release("a");
  expect(have).toEqual(["a", "large"]);
  await release("large");
  expect(have).toEqual(["a", "large", "b"]);
});

test("bytes are given back once", async () => {
  const { have, release } = await taken(new ByteBudget(10), { a: 5, b: 5, c: 5, d: 5 });
  await release("a");
  await release("a");
  expect(have).toEqual(["a", "b", "c"]);
});
