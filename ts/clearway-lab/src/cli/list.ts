// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway lab list --profile NAME`: prints every cell with its question and the hosts that can run it. For other hosts it prints the reason.
import type { HostName } from "../protocol/message.js";
import { type ForeignRunners, Runners } from "../runner/runners.js";
import { loadExperiments, withExperiments } from "../scenario/experiment.js";
import { loadScenarios } from "../scenario/load.js";
import {
  belongsOn,
  FAMILY_NAMES,
  inOrder,
  type MechanismInfo,
  type ProfileName,
  type Scenario,
} from "../scenario/scenario.js";
import { withForeign } from "./foreign.js";
import { askHosts, type Hosts, missingMechanism } from "./hosts.js";
import { printJson } from "./json.js";
import { print } from "./print.js";
import { selectScenarios } from "./select.js";
import { columned, columnsOf, fitted } from "./width.js";

export interface ListOptions {
  host: readonly HostName[];
  jdk?: number;
  runner?: ForeignRunners;
  json?: boolean;
  /** The profile `published` lists only what it measures. */
  profile?: ProfileName;
}

/** Lists the cells of the named families, scenarios or cells, or all. Returns the exit status. */
export async function list(
  names: readonly string[],
  { host: hosts, jdk, runner = {}, json = false, profile }: ListOptions,
): Promise<number> {
  const own = loadScenarios();
  const all = profile === "published" ? withExperiments(own, loadExperiments(own)) : own;
  const scenarios = selectScenarios(await withForeign(all, runner), names);
  const runners = new Runners({}, jdk, runner);
  try {
    const asked = await askHosts(runners, hosts, jdk);
    if (json) printJson(listed(scenarios, hosts, asked));
    else print(listing(scenarios, hosts, asked, columnsOf()) + "\n");
  } finally {
    await runners.close();
  }
  return 0;
}

/** The cells of a mechanism: the hosts that can run it, and the reasons of the others. */
interface Cells {
  on: HostName[];
  notOn: { host: HostName; why: string }[];
}

function cellsOf(scenario: Scenario, mechanism: MechanismInfo, hosts: readonly HostName[], asked: Hosts): Cells {
  const cells: Cells = { on: [], notOn: [] };
  for (const host of inOrder(hosts).filter((each) => belongsOn(each, scenario, mechanism))) {
    const why =
      mechanism.unavailable?.[host] ??
      asked.problems[host] ??
      missingMechanism(asked.described[host], scenario.name, mechanism.name);
    if (why === undefined) cells.on.push(host);
    else cells.notOn.push({ host, why });
  }
  return cells;
}

function isOnAny(scenario: Scenario, hosts: readonly HostName[]): boolean {
  return hosts.some((host) => scenario.mechanisms.some((each) => belongsOn(host, scenario, each)));
}

/** Returns the list for programs. */
export function listed(scenarios: readonly Scenario[], hosts: readonly HostName[], asked: Hosts): unknown {
  return {
    version: 1,
    hosts: inOrder(hosts).map((host) => ({
      host,
      ...(asked.described[host] ? { runtime: asked.described[host].runtime } : { problem: asked.problems[host] }),
    })),
    scenarios: scenarios
      .filter((scenario) => isOnAny(scenario, hosts))
      .map((scenario) => ({
        family: scenario.family,
        scenario: scenario.name,
        question: scenario.question,
        cells: scenario.mechanisms
          .map((mechanism) => ({
            cell: `${scenario.name}/${mechanism.name}`,
            title: mechanism.title,
            role: mechanism.role,
            ...cellsOf(scenario, mechanism, hosts, asked),
          }))
          .filter(({ on, notOn }) => on.length + notOn.length > 0),
      })),
  };
}

/** Width of a cell's name in the list. In a narrower terminal, or after a longer name, the title gets a line of its own. */
const NAME_WIDTH = 34;
const WIDE = 80;

/** Returns the list as text of at most `width` columns. Without a width, each entry has one line. */
export function listing(
  scenarios: readonly Scenario[],
  hosts: readonly HostName[],
  asked: Hosts,
  width?: number,
): string {
  const lines: string[] = [];
  const say = (text: string, indent: number) => lines.push(...fitted(text, width, indent));
  for (const host of inOrder(hosts))
    lines.push(...columned(host, asked.described[host]?.runtime ?? `cannot run: ${asked.problems[host]}`, 10, width));
  for (const family of FAMILY_NAMES) {
    const own = scenarios.filter((each) => each.family === family && isOnAny(each, hosts));
    if (own.length === 0) continue;
    lines.push("", family.toUpperCase());
    for (const scenario of own) {
      lines.push("");
      say(`  ${scenario.name}: ${scenario.question}`, 4);
      for (const mechanism of scenario.mechanisms) {
        const { on, notOn } = cellsOf(scenario, mechanism, hosts, asked);
        if (on.length + notOn.length === 0) continue;
        const name = `${scenario.name}/${mechanism.name}`;
        const title = `${mechanism.title}${on.length > 0 ? ` [${on.join(", ")}]` : ""}`;
        const isOneLine =
          name.length <= NAME_WIDTH || name.length + title.length + 5 <= (width ?? Number.POSITIVE_INFINITY);
        if (width === undefined || (width >= WIDE && isOneLine))
          lines.push(...columned(`    ${name} `, title, NAME_WIDTH + 5, width));
        else {
          say(`    ${name}`, 6);
          say(`      ${title}`, 6);
        }
        for (const why of new Set(notOn.map((each) => `not on ${each.host}: ${each.why}`))) say(`      ${why}`, 8);
      }
    }
  }
  return lines.join("\n");
}
