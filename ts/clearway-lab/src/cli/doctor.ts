// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway doctor`: reports the conditions for a run on this machine.
import { setTimeout as sleep } from "node:timers/promises";
import { buildFacts, cpuTimes, machineFacts, stealPercent } from "../machine/facts.js";
import { IdleWatch } from "../machine/idle-watch.js";
import { freshness } from "../report/facts.js";
import { findChromium } from "../runner/chromium-find.js";
import { Runners } from "../runner/runners.js";
import { HOST_NAMES } from "../scenario/scenario.js";
import { askHosts } from "./hosts.js";

/** How long the idle thread is observed, in milliseconds: long enough to see a stall that comes once a second. */
const QUIET_MS = 2000;

export async function doctor(): Promise<number> {
  const machine = machineFacts();
  const build = buildFacts(null);
  const say = (name: string, text: string) => process.stdout.write(`${name.padEnd(22)} ${text}\n`);
  say("machine", `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGb} GB, ${machine.os} (${machine.virtual})`);
  say("governor, load", `${machine.governor}, ${machine.loadBefore}`);
  say("clearway, lab", `${build.clearway}, ${build.lab}${build.commit === null ? "" : " at " + build.commit}`);
  say(
    "peers",
    Object.entries(build.peers)
      .map(([name, version]) => `${name} ${version}`)
      .join(", "),
  );
  say("chromium program", findChromium() ?? "none");
  const before = cpuTimes();
  const watch = new IdleWatch();
  await sleep(50);
  watch.begin();
  await sleep(QUIET_MS);
  const lateMs = watch.end();
  await watch.close();
  const steal = stealPercent(before, cpuTimes());
  say(
    "noise",
    `an idle thread woke up to ${lateMs.toFixed(2)} ms late in ${QUIET_MS / 1000} s; steal ${steal ?? "unknown"} %`,
  );
  const runners = new Runners();
  try {
    const { described, problems } = await askHosts(runners, HOST_NAMES);
    for (const host of HOST_NAMES) {
      const facts = described[host];
      if (facts === undefined) say(host, "cannot run: " + problems[host]);
      else {
        say(
          host,
          `${facts.runtime}, clock steps of ${facts.clockStepUs} us, ${facts.crossOriginIsolated ? "shared memory" : "not isolated: no shared memory"}, ${freshness(facts.fresh)}`,
        );
      }
    }
    return Object.keys(problems).length > 0 ? 1 : 0;
  } finally {
    await runners.close();
  }
}
