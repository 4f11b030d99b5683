// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway lab list`: prints every cell with its question and the hosts that can run it. For other hosts it prints the reason.
import type { HostName } from "../protocol/message.js";
import { Runners } from "../runner/runners.js";
import { loadScenarios } from "../scenario/load.js";
import { belongsOn, FAMILY_NAMES, HOST_NAMES, type Scenario } from "../scenario/scenario.js";
import { askHosts, type Hosts, missingMechanism } from "./hosts.js";

export async function list(hosts: readonly HostName[], jdk?: number): Promise<number> {
  const runners = new Runners({}, jdk);
  try {
    const asked = await askHosts(runners, hosts, jdk);
    process.stdout.write(listing(loadScenarios(), hosts, asked) + "\n");
  } finally {
    await runners.close();
  }
  return 0;
}

export function listing(scenarios: readonly Scenario[], hosts: readonly HostName[], asked: Hosts): string {
  const lines: string[] = [];
  for (const host of HOST_NAMES.filter((name) => hosts.includes(name))) {
    lines.push(`${host.padEnd(9)} ${asked.described[host]?.runtime ?? "cannot run: " + asked.problems[host]}`);
  }
  for (const family of FAMILY_NAMES) {
    lines.push("", family.toUpperCase());
    for (const scenario of scenarios.filter((each) => each.family === family)) {
      const here = (host: HostName) => scenario.mechanisms.some((each) => belongsOn(host, scenario, each));
      if (!hosts.some(here)) continue;
      lines.push("", `  ${scenario.name}: ${scenario.question}`);
      for (const mechanism of scenario.mechanisms) {
        const { name, title, unavailable } = mechanism;
        const own = HOST_NAMES.filter((each) => hosts.includes(each) && belongsOn(each, scenario, mechanism));
        if (own.length === 0) continue;
        const can: string[] = [];
        const cannot: string[] = [];
        for (const host of own) {
          const why =
            unavailable?.[host] ?? asked.problems[host] ?? missingMechanism(asked.described[host], scenario.name, name);
          if (why === undefined) can.push(host);
          else cannot.push(`not on ${host}: ${why}`);
        }
        lines.push(
          `    ${(scenario.name + "/" + name).padEnd(34)} ${title}${can.length > 0 ? ` [${can.join(", ")}]` : ""}`,
        );
        for (const why of new Set(cannot)) lines.push(`      ${why}`);
      }
    }
  }
  return lines.join("\n");
}
