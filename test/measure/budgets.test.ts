// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the budgets that can be counted exactly. The other ones, for allocations, depend on a sampler; `make measure` checks them.
import { pool } from "clearway";
import { describe, expect, test } from "vitest";
import { budgeted, budgets, carriers } from "../../measure/budget/budgets.mjs";
import { operations, tasks } from "../../measure/budget/operations.mjs";

describe("the budget of an operation on the caller's thread", () => {
  test("is committed for every operation with every carrier", () => {
    const committed = Object.entries(budgets.operations).flatMap(([name, ways]) =>
      Object.keys(ways as object).map((carrier) => [name, carrier]),
    );
    expect(committed.sort()).toEqual(budgeted().sort());
  });

  test.each(budgeted() as [keyof typeof operations, keyof typeof carriers][])(
    "equals the copied bytes: %s, %s",
    async (name, carrier) => {
      const operation = operations[name];
      const made = pool(tasks, { size: 1, carrier: carriers[carrier] as "port" | "auto" });
      try {
        await operation.run(made, operation.count);
        const { toWorkers, fromWorkers } = made.stats().ledger;
        const { copiedBytes } = budgets.operations[name][carrier];
        expect((toWorkers.copiedBytes + fromWorkers.copiedBytes) / operation.count).toBe(copiedBytes);
      } finally {
        await made.terminate();
      }
    },
  );
});
