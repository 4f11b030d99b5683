// SPDX-License-Identifier: MIT OR Apache-2.0

import { readdirSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { planCells, planOrder } from "../src/scenario/plan.js";
import { loadScenarios } from "../src/scenario/scenario.js";
import { publishedScenarios } from "./published-scenarios.js";

const scenarios = loadScenarios();
const cells = planCells(publishedScenarios(), ["node", "chromium"]);

describe("the scenario files", () => {
  test("are all loaded", () => {
    const files = readdirSync(new URL("../scenarios", import.meta.url)).filter((name) => name.endsWith(".json"));
    expect(scenarios).toHaveLength(files.length);
  });

  test("have a question, and settings for every mechanism", () => {
    for (const { mechanisms, shows, question } of scenarios) {
      expect(mechanisms.every(({ settings }) => settings.length > 0)).toBe(true);
      expect(question.endsWith("?") && shows.length > 100).toBe(true);
    }
  });

  test("are measured by an experiment", () => {
    const measured = publishedScenarios().map(({ name }) => name);
    const others = scenarios.map(({ name }) => name).filter((name) => !measured.includes(name));
    expect(others).toEqual([]);
  });
});

describe("a plan", () => {
  test("measures every cell that can run once per round, and no other cell", () => {
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const order = planOrder(cells, seed);
        for (const cell of cells) {
          const own = order.filter((step) => step.cell === cell).map(({ round }) => round);
          const expected = cell.unavailable === undefined ? Array.from({ length: cell.rounds }, (_, i) => i) : [];
          expect(own).toEqual(expected);
        }
        expect(order.map(({ round }) => round)).toEqual(order.map(({ round }) => round).sort((a, b) => a - b));
      }),
      { numRuns: 5 },
    );
  });

  test("has the same order for the same seed", () => {
    expect(planOrder(cells, 7)).toEqual(planOrder(cells, 7));
    expect(planOrder(cells, 7)).not.toEqual(planOrder(cells, 8));
  });

  test.each(["firefox", "webkit"])("has the cells of Chromium for %s, whose page is the same", (host) => {
    const own = planCells(publishedScenarios(), [host]);
    expect(own.length).toBeGreaterThan(0);
    expect(own.map((cell) => ({ ...cell, host: "chromium" }))).toEqual(planCells(publishedScenarios(), ["chromium"]));
  });

  test("gives every cell of a host that cannot run its reason", () => {
    const planned = planCells(publishedScenarios(), ["chromium"], { chromium: "no browser" });
    expect(planned.every(({ unavailable }) => unavailable !== undefined)).toBe(true);
  });
});
