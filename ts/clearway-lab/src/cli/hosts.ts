// SPDX-License-Identifier: MIT OR Apache-2.0
// Asks each host's runner for its description. If a host cannot answer, the reason is recorded and reported.
import type { ByHost, Description, HostName } from "../protocol/message.js";
import { chromiumProblem, findJvmRunner, findSwiftRunner, flutterMissing } from "../runner/find.js";
import type { Runners } from "../runner/runners.js";

export interface Hosts {
  described: ByHost<Description>;
  problems: ByHost<string>;
  /** The hosts among the problems whose programs are installed and do not work. The others are only not installed. */
  broken?: HostName[];
}

export async function askHosts(runners: Runners, hosts: readonly HostName[], jdk?: number): Promise<Hosts> {
  const described: Hosts["described"] = {};
  const problems: Hosts["problems"] = {};
  const broken: HostName[] = [];
  await Promise.all(
    hosts.map(async (host) => {
      const missing = notInstalled(host, jdk);
      if (missing !== undefined) {
        problems[host] = missing;
        return;
      }
      try {
        described[host] = await runners.describe(host);
      } catch (error) {
        problems[host] = `its runner did not start: ${(error as Error).message.split("\n")[0]}`;
        broken.push(host);
      }
    }),
  );
  return { described, problems, broken };
}

/** Returns why a host of the lab is not installed here, and the remedy; or undefined. Whether it works, its runner says. */
function notInstalled(host: HostName, jdk?: number): string | undefined {
  if (process.env["CLEARWAY_LAB_RUNNER"] !== undefined) return undefined;
  if (host === "chromium") return chromiumProblem();
  if (host === "flutter") return flutterMissing();
  const found = host === "jvm" ? findJvmRunner(jdk) : host === "swift" ? findSwiftRunner() : undefined;
  return typeof found === "string" ? found : undefined;
}

/**
 * Returns why a host's runner cannot run a mechanism, or undefined if it can. A cell with a reason is reported and not run.
 */
export function missingMechanism(
  description: Description | undefined,
  scenario: string,
  mechanism: string,
): string | undefined {
  if (description === undefined) return undefined;
  const known = description.mechanisms.find((each) => each.scenario === scenario && each.mechanism === mechanism);
  if (known !== undefined) return known.unavailable;
  return `this build's ${description.host} runner does not have it: in a clone of Clearway's repository run make lab, which builds it`;
}
