// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway hosts`: prints the hosts, their runtimes and the number of their mechanisms. For a host that cannot run, prints the reason.
import type { Command } from "commander";
import { type ForeignRunners, Runners } from "../runner/runners.js";
import { inOrder } from "../scenario/scenario.js";
import { chosenHosts, parseRunner } from "./foreign.js";
import { askHosts } from "./hosts.js";
import { printJson } from "./json.js";
import { print } from "./print.js";
import { columned, columnsOf } from "./width.js";

export function addHosts(program: Command): void {
  program
    .command("hosts")
    .description("list the hosts that can measure here, and the reasons for the others")
    .option("--runner <name=command>", "a runner in any language (docs/lab/runner-protocol.md)", parseRunner)
    .option("--json", "print JSON")
    .action(async ({ runner = {}, json = false }: { runner?: ForeignRunners; json?: boolean }) => {
      process.exitCode = await hosts(runner, json);
    });
}

/** Returns the exit status: 1 if a runner that the user named cannot be used. */
async function hosts(foreign: ForeignRunners, json: boolean): Promise<number> {
  const runners = new Runners({}, undefined, foreign);
  try {
    const all = inOrder(chosenHosts(undefined, foreign));
    const { described, problems } = await askHosts(runners, all);
    const found = all.map((host) => {
      const facts = described[host];
      if (facts === undefined) return { host, problem: problems[host] ?? "unknown" };
      const { runtime, clockStepUs, mechanisms } = facts;
      return { host, runtime, clockStepUs, mechanisms: mechanisms.filter(({ unavailable }) => !unavailable).length };
    });
    if (json) printJson({ version: 1, hosts: found });
    else {
      for (const each of found) {
        const text =
          "problem" in each ? `cannot run: ${each.problem}` : `${each.runtime}, ${each.mechanisms} mechanisms`;
        print(`${columned(each.host, text, 10, columnsOf()).join("\n")}\n`);
      }
    }
    return found.some((each) => "problem" in each && Object.hasOwn(foreign, each.host)) ? 1 : 0;
  } finally {
    await runners.close();
  }
}
