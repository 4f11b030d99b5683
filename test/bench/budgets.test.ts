// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { allowance, budgeted, budgets, countAllowance, measureBudget } from "../../bench/budget/budgets.mjs";

describe("the budget of what an operation costs the caller's thread", () => {
  test("is committed for every operation by every carrier", () => {
    const committed = Object.entries(budgets.operations).flatMap(([name, carriers]) =>
      Object.keys(carriers as object).map((carrier) => [name, carrier]),
    );
    expect(committed.sort()).toEqual(budgeted().sort());
  });

  for (const [name, carrier] of budgeted() as [string, string][]) {
    test(`is kept by: ${name}, ${carrier}`, async () => {
      const budget = budgets.operations[name][carrier];
      const now = await measureBudget(name, carrier);
      expect(now.copiedBytes).toBeLessThanOrEqual(budget.copiedBytes);
      expect(now.allocations).toBeLessThanOrEqual(budget.allocations * countAllowance());
      expect(now.allocatedBytes).toBeLessThanOrEqual(budget.allocatedBytes * allowance());
    });
  }
});
