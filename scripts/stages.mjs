// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs named stages, one after another or, where they say that they may, side by side; goes on after a failure, and ends
// with a table that names what failed, and with what the failed stages said of it.
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { excerptOf, reasonOf } from "./excerpt.mjs";
import { root } from "./sources.mjs";

const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;

// Of what a stage says, the end is kept: there is the account of what failed.
const keptCharacters = 400_000;
// A browser or a database that a killed stage leaves behind may hold its output open.
const drainMs = 10_000;

// How many at once: a compiler takes half a gigabyte.
const lanesMax = 4;
const lanes = Math.max(2, Math.min(lanesMax, availableParallelism()));

/**
 * One stage in a process group of its own, so that a stage that hangs can be ended with all that it started. What it says
 * is passed on to `say`, as it comes.
 */
function run({ command, cwd = ".", env = {}, timeoutMinutes = 20 }, say) {
  return new Promise((resolve) => {
    const [program, ...args] = command;
    const child = spawn(program, args, {
      cwd: new URL(cwd.endsWith("/") ? cwd : `${cwd}/`, `file://${root}`),
      env: { ...process.env, ...(process.stdout.isTTY && { FORCE_COLOR: "1" }), ...env },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    let why;
    let output = "";
    for (const name of ["stdout", "stderr"]) {
      child[name].setEncoding("utf8").on("data", (text) => {
        say(name, text);
        output = (output + text).slice(-keptCharacters);
      });
    }
    const kill = (signal) => {
      try {
        process.kill(-child.pid, signal);
      } catch {
        // The group is gone already.
      }
    };
    const interrupt = () => {
      kill(why === undefined ? "SIGINT" : "SIGKILL"); // asked twice, it does not ask again
      why = "interrupted";
    };
    const late = setTimeout(() => {
      why = `no end after ${timeoutMinutes} minutes`;
      kill("SIGKILL");
    }, timeoutMinutes * 60_000);
    const done = (failure) => {
      clearTimeout(late);
      process.off("SIGINT", interrupt);
      process.off("SIGTERM", interrupt);
      for (const pipe of [child.stdout, child.stderr]) pipe.destroy();
      resolve({ failure: why ?? failure, output });
    };
    process.on("SIGINT", interrupt);
    process.on("SIGTERM", interrupt);
    child.on("error", (error) => done(error.message));
    child.on("exit", (code, signal) => {
      const end = () => done(code === 0 ? undefined : (signal ?? `exit status ${code}`));
      const drained = setTimeout(end, drainMs);
      child.on("close", () => {
        clearTimeout(drained);
        end();
      });
    });
  });
}

/** Neighbours that may run beside each other, as one group; any other stage by itself. */
function groupsOf(stages) {
  const groups = [];
  for (const stage of stages) {
    const group = groups.at(-1);
    if (stage.beside && group?.[0].beside) group.push(stage);
    else groups.push([stage]);
  }
  return groups;
}

/** Runs one stage, and tells of it: as it goes, or in one piece at its end, where others would speak between. */
async function runOne(title, stage, inOnePiece) {
  const heading = `\n--- ${title}: ${stage.name}`;
  const said = [];
  if (!inOnePiece) console.log(heading);
  const start = performance.now();
  const { failure, output } = await run(stage, (name, text) => {
    if (inOnePiece) said.push([name, text]);
    else process[name].write(text);
  });
  const ms = performance.now() - start;
  if (inOnePiece) console.log(heading);
  for (const [name, text] of said) process[name].write(text);
  if (failure) console.error(`--- ${title}: ${stage.name} FAILED (${failure})`);
  const ends = failure === "interrupted" || Boolean(failure && stage.needed);
  return { name: stage.name, failure, ms, said: failure && excerptOf(output), ends };
}

/** Runs a group, as many at once as there are lanes. Returns the outcomes in the group's order. */
async function runGroup(title, group) {
  const outcomes = [];
  let next = 0;
  const lane = async () => {
    while (next < group.length && !outcomes.some((outcome) => outcome?.ends)) {
      const index = next++;
      outcomes[index] = await runOne(title, group[index], group.length > 1);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return outcomes.filter((outcome) => outcome !== undefined);
}

/**
 * Runs `stages` (`{ name, command, cwd?, env?, needed?, beside?, timeoutMinutes? }`), or those whose name contains one of
 * the words of `only`. A stage that is `needed` ends the run when it fails; neighbours that may stand `beside` each other
 * run at once. Sets the exit status; returns the outcomes.
 */
export async function runStages(title, stages, only = []) {
  const chosen = stages.filter(({ name, needed }) => needed || only.length === 0 || only.some((w) => name.includes(w)));
  const outcomes = [];
  if (chosen.every(({ needed }) => needed) && only.length > 0) {
    console.error(`${title}: no stage is called ${only.join(" or ")}: ${stages.map(({ name }) => name).join(", ")}`);
    process.exitCode = 2;
    return outcomes;
  }
  for (const group of groupsOf(chosen)) {
    outcomes.push(...(await runGroup(title, group)));
    if (outcomes.some(({ ends }) => ends)) break;
  }
  const notRun = chosen.filter(({ name }) => !outcomes.some((outcome) => outcome.name === name));
  tell(title, outcomes, notRun);
  if (outcomes.some(({ failure }) => failure) || notRun.length > 0) process.exitCode = 1;
  return outcomes;
}

function tell(title, outcomes, notRun) {
  console.log(`\n${title}`);
  const failed = outcomes.filter(({ failure }) => failure);
  // What failed stands first, with its reason: of a long account often only the beginning is read, or only the end.
  for (const { name, failure, ms, said } of [...failed, ...outcomes.filter(({ failure }) => !failure)]) {
    console.log(`  ${failure ? "FAILED" : "ok    "}  ${name.padEnd(34)} ${seconds(ms).padStart(8)}  ${failure ?? ""}`);
    if (failure) for (const line of reasonOf(said)) console.log(`          ${line}`);
  }
  for (const { name } of notRun) console.log(`  not run ${name}`);
  for (const { name, failure, said } of failed) console.log(`\n${title}: ${name} FAILED (${failure})\n${said}`);
  console.log(
    failed.length === 0 && notRun.length === 0
      ? `${title}: all ${outcomes.length} stages passed`
      : `\n${title}: ${failed.length} of ${outcomes.length + notRun.length} stages FAILED: ${failed.map(({ name }) => name).join("; ")}`,
  );
}
