// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway lab --profile NAME --dry-run`: prints what a run would measure and how long it would take. Measures nothing.
import { duration } from "../report/duration.js";
import { Runners } from "../runner/runners.js";
import { hasCell } from "../scenario/experiment.js";
import { cellName, type PlannedCell, planOrder } from "../scenario/plan.js";
import { askHosts } from "./hosts.js";
import { printJson } from "./json.js";
import { type Choice, choose, LIMITS, planChoice } from "./plan-run.js";
import { print } from "./print.js";
import type { ScenarioOptions } from "./scenario-options.js";
import { leavesOut } from "./select.js";
import { columnsOf, fitted } from "./width.js";

/** A part of a plan: an experiment, or a scenario. */
interface PlanPart {
  name: string;
  cells: number;
  measurements: number;
  estimateMs: number;
  /** The cells that cannot run here, with the reason. */
  leftOut: { cell: string; host: string; why: string }[];
}

/** Prints the plan. Returns the exit status. */
export async function dryRun(what: readonly string[], options: ScenarioOptions): Promise<number> {
  const choice = await choose(what, options);
  const runners = new Runners({}, options.jdk, options.runner ?? {});
  try {
    const isLeftOut = leavesOut(choice.scenarios, options.without ?? []);
    const planned = planChoice(choice, options, await askHosts(runners, options.host, options.jdk));
    const cells = planned.filter((cell) => !isLeftOut(cell));
    const parts = planParts(choice, cells);
    if (options.json === true) printJson({ version: 1, profile: options.profile, limitMs: limitOf(options), parts });
    else print(planText(parts, options, columnsOf()) + "\n");
  } finally {
    await runners.close();
  }
  return 0;
}

/** Groups the cells of a plan by experiment or, without experiments, by scenario. */
export function planParts({ experiments, scenarios }: Choice, cells: readonly PlannedCell[]): PlanPart[] {
  if (experiments === undefined)
    return scenarios.map(({ name }) =>
      planPart(
        name,
        cells.filter((cell) => cell.scenario.name === name),
      ),
    );
  return experiments.map((experiment) =>
    planPart(
      `${experiment.number}. ${experiment.title}`,
      cells.filter(({ scenario, mechanism, host, params }) =>
        hasCell(experiment, { scenario: scenario.name, mechanism: mechanism.name, host, params }),
      ),
    ),
  );
}

function planPart(name: string, cells: readonly PlannedCell[]): PlanPart {
  const order = planOrder(cells, 0);
  return {
    name,
    cells: cells.filter(({ unavailable }) => unavailable === undefined).length,
    measurements: order.length,
    estimateMs: order.reduce((sum, { cell }) => sum + cell.estimateMs, 0),
    leftOut: cells.flatMap((cell) =>
      cell.unavailable === undefined ? [] : [{ cell: cellName(cell), host: cell.host, why: cell.unavailable }],
    ),
  };
}

function limitOf({ profile }: ScenarioOptions): number | null {
  const { endMs } = LIMITS[profile];
  return Number.isFinite(endMs) ? endMs : null;
}

/** Returns the plan as text of at most `width` columns. Without a width, each entry has one line. */
export function planText(
  parts: readonly PlanPart[],
  options: Pick<ScenarioOptions, "profile" | "host">,
  width?: number,
): string {
  const sum = (of: (part: PlanPart) => number) => parts.reduce((total, part) => total + of(part), 0);
  const limitMs = LIMITS[options.profile].endMs;
  const limit = Number.isFinite(limitMs) ? `; no measurement starts after ${duration(limitMs)}` : "";
  const lines: string[] = [];
  const say = (text: string, indent: number) => lines.push(...fitted(text, width, indent));
  say(
    `Profile ${options.profile} on ${options.host.join(" and ")}: ${sum(({ cells }) => cells)} cells, ${sum(({ measurements }) => measurements)} measurements, about ${duration(sum(({ estimateMs }) => estimateMs))}${limit}.`,
    0,
  );
  for (const { name, cells, measurements, estimateMs, leftOut } of parts) {
    lines.push("");
    say(`${name}: ${cells} cells, ${measurements} measurements, about ${duration(estimateMs)}`, 2);
    const reasons = new Map<string, Set<string>>();
    for (const { cell, host, why } of leftOut) {
      const key = `not on ${host}: ${why}`;
      reasons.set(key, (reasons.get(key) ?? new Set()).add(cell));
    }
    for (const [why, own] of reasons) say(`  ${[...own].join(", ")} ${why}`, 4);
  }
  return lines.join("\n");
}
