// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs named stages one after another, goes on after a failure, and ends with a table that names what failed, and with what
// the failed stages said of it.
import { spawn } from "node:child_process";
import { excerptOf, reasonOf } from "./excerpt.mjs";
import { root } from "./sources.mjs";

const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;

// Of what a stage says, the end is kept: there is the account of what failed.
const keptCharacters = 400_000;
// A browser or a database that a killed stage leaves behind may hold its output open.
const drainMs = 10_000;

/** One stage in a process group of its own, so that a stage that hangs can be ended with all that it started. */
function run({ command, cwd = ".", env = {}, timeoutMinutes = 20 }) {
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
        process[name].write(text);
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

/**
 * Runs `stages` (`{ name, command, cwd?, env?, needed?, timeoutMinutes? }`), or those whose name contains one of the
 * words of `only`. A stage that is `needed` ends the run when it fails. Sets the exit status; returns the outcomes.
 */
export async function runStages(title, stages, only = []) {
  const chosen = stages.filter(({ name, needed }) => needed || only.length === 0 || only.some((w) => name.includes(w)));
  const outcomes = [];
  if (chosen.every(({ needed }) => needed) && only.length > 0) {
    console.error(`${title}: no stage is called ${only.join(" or ")}: ${stages.map(({ name }) => name).join(", ")}`);
    process.exitCode = 2;
    return outcomes;
  }
  for (const stage of chosen) {
    console.log(`\n--- ${title}: ${stage.name}`);
    const start = performance.now();
    const { failure, output } = await run(stage);
    const ms = performance.now() - start;
    outcomes.push({ name: stage.name, failure, ms, said: failure && excerptOf(output) });
    if (failure) console.error(`--- ${title}: ${stage.name} FAILED (${failure})`);
    if (failure === "interrupted" || (failure && stage.needed)) break;
  }
  console.log(`\n${title}`);
  const failed = outcomes.filter(({ failure }) => failure);
  // What failed stands first, with its reason: of a long account often only the beginning is read, or only the end.
  for (const { name, failure, ms, said } of [...failed, ...outcomes.filter(({ failure }) => !failure)]) {
    console.log(`  ${failure ? "FAILED" : "ok    "}  ${name.padEnd(34)} ${seconds(ms).padStart(8)}  ${failure ?? ""}`);
    if (failure) for (const line of reasonOf(said)) console.log(`          ${line}`);
  }
  for (const { name } of chosen.slice(outcomes.length)) console.log(`  not run ${name}`);
  for (const { name, failure, said } of failed) console.log(`\n${title}: ${name} FAILED (${failure})\n${said}`);
  const all = failed.length === 0 && outcomes.length === chosen.length;
  console.log(
    all
      ? `${title}: all ${outcomes.length} stages passed`
      : `\n${title}: ${failed.length} of ${chosen.length} stages FAILED: ${failed.map(({ name }) => name).join("; ")}`,
  );
  if (!all) process.exitCode = 1;
  return outcomes;
}
