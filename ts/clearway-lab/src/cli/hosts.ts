// SPDX-License-Identifier: MIT OR Apache-2.0
// Asks each host's runner for its description. If a host cannot answer, the reason is recorded and reported.
import type { Description, HostName } from "../protocol/message.js";
import { CHROMIUM_MISSING, findChromium } from "../runner/chromium-find.js";
import { findJvmRunner } from "../runner/jvm-find.js";
import type { Runners } from "../runner/runners.js";

export interface Hosts {
  described: Partial<Record<HostName, Description>>;
  problems: Partial<Record<HostName, string>>;
}

export async function askHosts(runners: Runners, hosts: readonly HostName[], jdk?: number): Promise<Hosts> {
  const described: Hosts["described"] = {};
  const problems: Hosts["problems"] = {};
  await Promise.all(
    hosts.map(async (host) => {
      if (host === "chromium" && findChromium() === undefined && process.env["CLEARWAY_LAB_RUNNER"] === undefined) {
        problems[host] = CHROMIUM_MISSING;
        return;
      }
      const jvm = host === "jvm" && process.env["CLEARWAY_LAB_RUNNER"] === undefined ? findJvmRunner(jdk) : undefined;
      if (typeof jvm === "string") {
        problems[host] = jvm;
        return;
      }
      try {
        described[host] = await runners.describe(host);
      } catch (error) {
        problems[host] = `its runner did not start: ${(error as Error).message.split("\n")[0]}`;
      }
    }),
  );
  return { described, problems };
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
  return `this build's ${description.host} runner does not have it: rebuild with npm run build`;
}
