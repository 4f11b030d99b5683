// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { Slots } from "../../src/durable/slots.js";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function setup(size: number) {
  const limits = { size };
  const slots = new Slots(() => limits.size);
  const log: string[] = [];
  const take = (name: string, priority = 0): void => {
    slots.take(priority).then(
      () => log.push(name),
      (reason) => log.push(`${name} ${reason}`),
    );
  };
  return { limits, slots, log, take };
}

test("calls have slots by their priority, and in order", async () => {
  const { slots, log, take } = setup(1);
  take("first");
  for (const [name, priority] of [
    ["low", -1],
    ["a", 0],
    ["high", 2],
    ["b", 0],
  ] as const)
    take(name, priority);
  for (let call = 0; call < 4; call++) slots.give();
  await turn();
  expect(log).toEqual(["first", "high", "a", "b", "low"]);
});

test("more slots are used when one is given back", async () => {
  const { limits, slots, log, take } = setup(1);
  for (const name of ["a", "b", "c"]) take(name);
  limits.size = 2;
  slots.give();
  await turn();
  expect(log).toEqual(["a", "b", "c"]);
});

test("calls that wait are refused at the end, and later ones, too", async () => {
  const { slots, log, take } = setup(1);
  take("a");
  take("b");
  slots.end("closed");
  take("c");
  await turn();
  expect(log).toEqual(["a", "b closed", "c closed"]);
});
