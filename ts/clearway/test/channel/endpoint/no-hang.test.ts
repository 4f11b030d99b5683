// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, test } from "vitest";
import fc, { cases } from "../../fixtures/fast-check.js";
import { play, step } from "./chaos.js";
import { transports } from "./pairs.js";

// Plans per combination of transport and wire, which take a second or two. In Node, `CLEARWAY_FUZZ_RUNS=2000` runs more.
const runs = cases(60);

describe("two endpoints never hang, whatever they do,", () => {
  for (const carrier of Object.keys(transports)) {
    for (const wire of ["clearway", "plain"] as const) {
      test(`over ${carrier}, on the ${wire} wire`, async () => {
        const steps = fc.array(step, { minLength: 1, maxLength: 25 });
        await fc.assert(
          fc.asyncProperty(steps, (plan) => play(carrier, wire, plan)),
          { numRuns: runs },
        );
      });
    }
  }
});
