// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs named stages, several at the same time, and continues after a failure. At the end, prints a table with the failures and their
// reasons, the slowest stages and the number of tests. With `record`, also writes the results to that file as JSON.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { countOf, excerptOf, reasonOf } from "./excerpt.mjs";
import { Passed } from "./passed.mjs";
import { Plan } from "./plan.mjs";
import { idleMinutesMax, Progress, processorTimeOf, samplesMax } from "./progress.mjs";
import { root } from "./sources.mjs";

const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;

// Number of characters of a stage's output that are kept for the excerpt. The end is kept, because it has the summary of failures.
const keptCharacters = 400_000;
// Maximum wait for the end of a finished stage's output, in milliseconds. If the stage was killed, a browser or a database that it started
// may keep the output open.
const drainMs = 10_000;
// Maximum number of stages at the same time. More would need more memory than small machines have: a compiler takes half a gigabyte.
const lanesMax = 4;
const slowestShown = 10;

// POSIX `times` prints the processor time of all finished children: minutes and seconds, user and system.
const timed = ["sh", "-c", '"$@"; status=$?; times >&3; exit $status', "sh"];

function cpuMsOf(text) {
  const line = text.trim().split("\n").at(-1) ?? "";
  const found = [...line.matchAll(/(\d+)m([\d.]+)s/g)];
  return found.reduce((sum, [, minutes, rest]) => sum + (Number(minutes) * 60 + Number(rest)) * 1000, 0);
}

/**
 * Runs one stage in a separate process group, so that a stage that hangs can be killed with all its processes. A stage hangs if for
 * `idleMinutes` it prints nothing and uses no processor time; a slow stage is never ended. Passes the output to `say` when it arrives.
 */
function run({ command, cwd = ".", env = {}, idleMinutes = idleMinutesMax }, say) {
  return new Promise((resolve) => {
    const [program, ...args] = [...timed, ...command];
    const child = spawn(program, args, {
      cwd: new URL(cwd.endsWith("/") ? cwd : `${cwd}/`, `file://${root}`),
      env: { ...process.env, ...(process.stdout.isTTY && { FORCE_COLOR: "1" }), ...env },
      stdio: ["ignore", "pipe", "pipe", "pipe"],
      detached: true,
    });
    let why;
    let output = "";
    let cpu = "";
    const sampleMs = (idleMinutes * 60_000) / samplesMax;
    const progress = new Progress(sampleMs);
    for (const name of ["stdout", "stderr"]) {
      child[name].setEncoding("utf8").on("data", (text) => {
        progress.output();
        say(name, text);
        output = (output + text).slice(-keptCharacters);
      });
    }
    child.stdio[3].setEncoding("utf8").on("data", (text) => {
      cpu += text;
    });
    const kill = (signal) => {
      try {
        process.kill(-child.pid, signal);
      } catch {
        // The group has already ended.
      }
    };
    const interrupt = () => {
      kill(why === undefined ? "SIGINT" : "SIGKILL"); // a second Ctrl-C kills the stage at once
      why = "interrupted";
    };
    const watch = setInterval(() => {
      if (!progress.sample(processorTimeOf(child.pid))) return;
      why = `no output and no processor time for ${idleMinutes} minutes`;
      kill("SIGKILL");
    }, sampleMs);
    const done = (failure) => {
      clearInterval(watch);
      process.off("SIGINT", interrupt);
      process.off("SIGTERM", interrupt);
      for (const pipe of [child.stdout, child.stderr, child.stdio[3]]) pipe.destroy();
      resolve({ failure: why ?? failure, output, cpuMs: cpuMsOf(cpu) });
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

/** Runs one stage. Prints its output when it arrives, or with `inOnePiece` all of it at the stage's end, because stages run in parallel. */
async function runOne(title, stage, inOnePiece) {
  const heading = `\n--- ${title}: ${stage.name}`;
  const said = [];
  if (!inOnePiece) console.log(heading);
  const startedAt = Date.now();
  const start = performance.now();
  const { failure, output, cpuMs } = await run(stage, (name, text) => {
    if (inOnePiece) said.push([name, text]);
    else process[name].write(text);
  });
  const ms = performance.now() - start;
  if (inOnePiece) console.log(`${heading} (${seconds(ms)})`);
  for (const [name, text] of said) process[name].write(text);
  if (failure) console.error(`--- ${title}: ${stage.name} FAILED (${failure})`);
  return {
    name: stage.name,
    failure,
    startedAt,
    ms,
    cpuMs,
    tests: countOf(output),
    said: failure && excerptOf(output),
  };
}

/** Runs one stage, unless it has passed with the same files. */
async function runUnlessPassed(title, stage, inOnePiece, passed) {
  const key = passed?.keyOf(stage);
  const before = passed?.find(stage.name, key);
  if (before) {
    console.log(`\n--- ${title}: ${stage.name} has passed with these files`);
    return { name: stage.name, ms: 0, cpuMs: 0, tests: before.tests, unchanged: true };
  }
  const outcome = await runOne(title, stage, inOnePiece);
  // If a file was changed during the run, the stage has passed with neither version.
  if (!outcome.failure && key === passed?.keyOf(stage)) passed?.add(stage.name, key, outcome.tests);
  return outcome;
}

/**
 * Runs `stages` (`{ name, command, cwd?, env?, after?, lane?, idleMinutes?, reads? }`). With words in `only`, runs only the stages whose names
 * contain one of them, and the stages in their `after`. A stage starts when all stages in its `after` have passed. Stages of different
 * `lane`s run in parallel; an idle lane also takes stages of other lanes. `lanes` is the maximum number of stages at the same time. Sets
 * the exit status. Returns the outcomes. With `leaveOutPassed`, a stage that says in `reads` which folders and files it reads does not run
 * again if it has passed with the same ones; a stage that `only` names always runs.
 */
export async function runStages(title, stages, only = [], { lanes = lanesHere(), record, leaveOutPassed } = {}) {
  const passed =
    leaveOutPassed && only.length === 0 ? new Passed(leaveOutPassed.folder, leaveOutPassed.path) : undefined;
  const plan = new Plan(stages, only);
  if (plan.unknown.length > 0) {
    console.error(
      `${title}: no stage is called ${plan.unknown.join(" or ")}: ${stages.map(({ name }) => name).join(", ")}`,
    );
    process.exitCode = 2;
    return [];
  }
  const begun = new Date();
  const outcomes = [];
  const running = new Map();
  for (;;) {
    while (running.size < lanes) {
      const stage = plan.next();
      if (stage === undefined) break;
      running.set(
        stage,
        runUnlessPassed(title, stage, lanes > 1, passed).then((outcome) => ({ stage, outcome })),
      );
    }
    if (running.size === 0) break;
    const { stage, outcome } = await Promise.race(running.values());
    running.delete(stage);
    outcomes.push(outcome);
    plan.ended(stage, outcome.failure);
    if (outcome.failure === "interrupted") plan.stop();
  }
  const inOrder = plan.chosen.flatMap(({ name }) => outcomes.filter((outcome) => outcome.name === name));
  const notRun = plan.notRun();
  const totalMs = Date.now() - begun.getTime();
  tell(title, inOrder, notRun, totalMs);
  if (record) write(record, { begun, totalMs, lanes, stages: inOrder, notRun });
  if (inOrder.some(({ failure }) => failure) || notRun.length > 0) process.exitCode = 1;
  return inOrder;
}

// One more than there are cores, because some stages wait for browsers, servers and timers.
const lanesHere = () => Math.min(lanesMax, availableParallelism() + 1);

function write(record, { begun, totalMs, lanes, stages, notRun }) {
  const path = join(root, record);
  mkdirSync(join(path, ".."), { recursive: true });
  const rounded = (ms) => Math.round(ms);
  const rows = stages.map(({ name, failure, startedAt, ms, cpuMs, tests, unchanged }) => ({
    name,
    outcome: failure ?? (unchanged ? "unchanged" : "passed"),
    ...(startedAt && { startMs: startedAt - begun.getTime() }),
    ms: rounded(ms),
    cpuMs: rounded(cpuMs),
    ...(tests && { tests }),
  }));
  const all = {
    version: 1,
    begun: begun.toISOString(),
    totalMs,
    cores: availableParallelism(),
    lanes,
    stages: rows,
    notRun,
  };
  writeFileSync(path, `${JSON.stringify(all, null, 2)}\n`);
}

const sumOf = (outcomes, key) => outcomes.reduce((sum, { tests }) => sum + (tests?.[key] ?? 0), 0);

function tell(title, outcomes, notRun, totalMs) {
  console.log(`\n${title}`);
  const failed = outcomes.filter(({ failure }) => failure);
  // The failures come first, each with its reason. In long output, often only the beginning or the end is read.
  for (const { name, failure, ms, tests, said, unchanged } of [
    ...failed,
    ...outcomes.filter(({ failure }) => !failure),
  ]) {
    const count = tests ? `${tests.passed + tests.failed} tests` : "";
    const line = `  ${failure ? "FAILED" : "ok    "}  ${name.padEnd(34)} ${(unchanged ? "unchanged" : seconds(ms)).padStart(9)}  ${count.padEnd(12)} ${failure ?? ""}`;
    console.log(line.trimEnd());
    if (failure) for (const reason of reasonOf(said)) console.log(`          ${reason}`);
  }
  for (const { name, why } of notRun) console.log(`  not run ${name}${why ? `: ${why}` : ""}`);
  for (const { name, failure, said } of failed) console.log(`\n${title}: ${name} FAILED (${failure})\n${said}`);
  if (outcomes.length > slowestShown) {
    console.log(`\nthe ${slowestShown} slowest of ${outcomes.length} stages:`);
    for (const { name, ms, cpuMs } of outcomes.toSorted((a, b) => b.ms - a.ms).slice(0, slowestShown))
      console.log(`  ${seconds(ms).padStart(8)}  ${name} (processor time ${seconds(cpuMs)})`);
  }
  if (sumOf(outcomes, "passed") + sumOf(outcomes, "failed") > 0) {
    const [passed, broken, skipped] = ["passed", "failed", "skipped"].map((key) => sumOf(outcomes, key));
    console.log(`\n${title}: ${passed} passed, ${broken} failed, ${skipped} skipped`);
  }
  console.log(
    failed.length === 0 && notRun.length === 0
      ? `${title}: all ${outcomes.length} stages passed in ${seconds(totalMs)}`
      : `\n${title}: ${failed.length} of ${outcomes.length + notRun.length} stages FAILED: ${failed.map(({ name }) => name).join("; ")}`,
  );
}
