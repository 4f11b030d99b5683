// SPDX-License-Identifier: MIT OR Apache-2.0
// Compares the allocations of one operation on the caller's thread with measure/budgets.json.
import { allowance, budgeted, budgets as committed, countAllowance, measureBudget } from "../budget/budgets.mjs";

/** Number of processes per operation. It is the smallest number whose interval contains the median in 95 of 100 cases. */
const rounds = 6;

/** Yields the bytes and the number of allocations of every operation with every carrier. Takes about 80 s. */
export async function* budgets() {
  for (const [name, carrier] of budgeted()) {
    const budget = committed.operations[name][carrier];
    const found = [];
    for (let round = 0; round < rounds; round++) found.push(await measureBudget(name, carrier));
    const figure = (metric, unit, share) => ({
      name: `${unit} allocated: ${name}, ${carrier}`,
      unit,
      sense: "at most",
      limit: budget[metric] * share,
      samples: found.map((each) => each[metric]),
    });
    yield figure("allocatedBytes", "bytes", allowance());
    yield figure("allocations", "objects", countAllowance());
  }
}
