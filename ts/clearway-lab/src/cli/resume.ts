// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway lab resume [DIR]`: goes on with an interrupted run.
import type { Command } from "commander";
import type { HostName } from "../protocol/message.js";
import { readPlan, type UnfinishedPlan } from "../run/unfinished.js";
import type { ProfileName } from "../scenario/scenario.js";
import { asUsage } from "./keep-finished.js";
import { lab } from "./lab.js";
import { UsageError } from "./select.js";

export function addResume(labCommand: Command): void {
  labCommand
    .command("resume")
    .description("go on with the interrupted run in DIR: only the missing rounds are measured")
    .argument("[dir]", 'the folder of the run; default: "out"')
    .action(async (dir: string | undefined) => {
      const asked = labCommand.opts<Record<string, unknown>>();
      const out = dir ?? String(asked["out"]);
      const plan = asUsage(() => readPlan(out));
      assertSameOptions(labCommand, asked, out, plan);
      const { what, host, profile, rounds, jdk, seed } = plan;
      const without = [...(plan.without ?? []), ...((asked["without"] as string[] | undefined) ?? [])];
      const options = { host: host as HostName[], profile: profile as ProfileName, out, seed, without };
      process.exitCode = await lab(
        what,
        { ...options, ...(rounds !== undefined && { rounds }), ...(jdk !== undefined && { jdk }) },
        plan,
      );
    });
}

/** Throws a UsageError if the command line has an option that is not the run's. */
function assertSameOptions(command: Command, asked: Record<string, unknown>, out: string, plan: UnfinishedPlan): void {
  const options = {
    host: plan.host,
    profile: plan.profile,
    rounds: plan.rounds,
    jdk: plan.jdk,
    seed: plan.seed,
    family: [],
  };
  for (const [name, kept] of Object.entries(options)) {
    if (command.getOptionValueSource(name) !== "cli") continue;
    if (JSON.stringify(asked[name]) === JSON.stringify(kept)) continue;
    throw new UsageError(
      `the run in ${out} was started with other options: ${name} was ${kept ?? "not given"}, is ${asked[name]}. ` +
        `Leave the option out to go on (clearway lab resume ${out}), or start a new run without resume`,
    );
  }
}
