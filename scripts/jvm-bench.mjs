#!/usr/bin/env node
// SPDX-License-Identifier: MIT OR Apache-2.0
// `node scripts/jvm-bench.mjs [17 25] [arithmetic storage …] [first] [change] [--seconds 8] [--forks 1]`: measures how much slower the
// adaptive executor is than the best fixed strategy, for each kind of work. Each kind runs in one JVM, in which all strategies take turns.
// The rounds have two halves. The strategies' times in one half are compared with the strategy that was best in the other half. Without
// arguments, runs all kinds, `first` and `change`, which takes about 5 minutes per JDK. If a JVM fails or hangs, the script reports
// it, and only the results of that JVM are missing.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { chosen, folder, jdks, maven } from "./maven.mjs";

const ours = "Clearway adaptive";
const control = "direct again";
const works = ["arithmetic", "lists", "storage", "network", "mixed", "shuffled", "ascending", "bimodal"];

/** The machine of the tables in docs/performance.md. */
const kept = { model: "AMD EPYC", processors: 2 };

/** Returns the lines that name this machine, and say so if it is not the one of the tables in the docs. */
function machine(processors = cpus()) {
  const model = processors[0]?.model.trim() || "unknown processor";
  const here = `machine: ${model}, ${processors.length} processors`;
  if (model.startsWith(kept.model) && processors.length === kept.processors) return [here];
  const there = `${kept.model}, ${kept.processors} processors`;
  return [here, `This is not the machine of the tables in docs/performance.md (${there}): compare ratios, not times.`];
}

const args = process.argv.slice(2);
const option = (name, otherwise) => {
  const at = args.indexOf(`--${name}`);
  return at < 0 ? otherwise : Number(args.splice(at, 2)[1]);
};
const seconds = option("seconds", 8);
const forks = option("forks", 1);
const wanted = args.filter((word) => works.includes(word));
const extras = args.filter((word) => ["first", "change"].includes(word));
const versions = args.map(Number).filter(Number.isInteger);

const found = jdks();
const { builds, newest } = chosen(found);
const releases = versions.length > 0 ? versions : [builds, newest].filter((version) => version !== undefined);

const paths = join(folder, "executor/target/bench.classpath");
const status = maven([
  "test-compile",
  "dependency:build-classpath",
  `-Dmdep.outputFile=${paths}`,
  "-Dmdep.includeScope=test",
  "-pl",
  "executor",
]);
if (status !== 0) process.exit(status);
const target = join(folder, "executor/target");
const classPath = [join(target, "test-classes"), join(target, "classes"), readFileSync(paths, "utf8").trim()].join(":");

/** Time limit of a JVM, in milliseconds. It includes a warm-up of 13 strategies (`seconds` / 10 each), long batches and the JVM's start. */
const patienceMs = (seconds * 5 + 120) * 1000;

/** Returns the rows that one JVM prints, split at tabs. After a failure, returns the rows before it. */
function rows(home, ...command) {
  const heap = ["-Xms512m", "-Xmx512m", "-XX:+UseParallelGC"];
  const main = "clearway.executor.bench.RegretBenchKt";
  const run = spawnSync(join(home, "bin/java"), [...heap, "-cp", classPath, main, ...command.map(String)], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    timeout: patienceMs,
    killSignal: "SIGKILL",
  });
  if (run.status !== 0) {
    const why = run.error?.code === "ETIMEDOUT" ? `took over ${patienceMs / 1000} s` : `ended with ${run.status}`;
    console.error(`${home}, ${command.join(" ")}: ${why}`);
    process.exitCode = 1;
  }
  return run.stdout.split("\n").flatMap((line) => {
    const [name, ...numbers] = line.split("\t");
    return numbers.length > 0 ? [{ name, numbers: numbers.map(Number) }] : [];
  });
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const time = (ns) =>
  ns < 1e4 ? `${(ns / 1e3).toFixed(2)} us` : ns < 1e6 ? `${(ns / 1e3).toFixed(0)} us` : `${(ns / 1e6).toFixed(2)} ms`;

const isWhole = (table) => table.some(({ name }) => name === ours);

/**
 * Returns `{ best, byName }`. `byName` has each strategy's time divided by the best fixed strategy's time. For each half of the rounds, the
 * best strategy of the other half is used, because choosing the best from the same rounds would favour it.
 */
function regrets(table) {
  const rivals = table.filter(({ name }) => !name.startsWith("Clearway") && name !== control);
  const best = [0, 1].map((half) =>
    rivals.reduce((one, other) => (other.numbers[half] < one.numbers[half] ? other : one)),
  );
  const over = ({ numbers }) => Math.sqrt((numbers[0] / best[1].numbers[0]) * (numbers[1] / best[0].numbers[1]));
  return { best: best[0], byName: new Map(table.map((row) => [row.name, over(row)])) };
}

for (const line of machine()) console.log(line);
for (const version of releases) {
  const home = found.get(version);
  if (home === undefined) {
    console.error(`no JDK ${version} was found`);
    continue;
  }
  const columns = [];
  for (const work of wanted.length > 0 || extras.length > 0 ? wanted : works) {
    const whole = Array.from({ length: forks }, () => rows(home, "steady", work, seconds)).filter(isWhole);
    if (whole.length === 0) continue;
    const each = whole.map(regrets);
    const names = [...each[0].byName.keys()];
    const regret = new Map(names.map((name) => [name, median(each.map(({ byName }) => byName.get(name)))]));
    columns.push({ work, regret, best: each[0].best });
    const own = each.map(({ byName }) => byName.get(ours).toFixed(3)).join(", ");
    console.log(`JDK ${version}, ${work}: ${own} times ${each[0].best.name} (${time(each[0].best.numbers[1])})`);
  }
  if (columns.length > 0) {
    console.log(
      `\nJDK ${version}: time over the best of the column | ${columns.map(({ work }) => work).join(" | ")} | worst`,
    );
    for (const name of columns[0].regret.keys()) {
      const cells = columns.map(({ regret }) => regret.get(name));
      console.log(`| ${name} | ${[...cells, Math.max(...cells)].map((cell) => cell.toFixed(2)).join(" | ")} |`);
    }
    console.log("");
  }
  if (extras.includes("first") || args.length === versions.length) {
    console.log(
      "The first batch of a site: the executor has no measurement of it yet. It times the items one by one, and asks other threads for help once the batch has taken twice as long as a wake-up.",
    );
    for (const work of wanted.length > 0 ? wanted : works) {
      for (const { name, numbers } of rows(home, "first", work)) {
        const [first, steady] = numbers;
        console.log(
          `JDK ${version}, first batch of a site, ${name}: ${time(first)}, ${(first / steady).toFixed(1)} times a later one`,
        );
      }
    }
  }
  if (extras.includes("change") || args.length === versions.length) {
    console.log(
      "A change: the executor ignores the first batch that takes half or twice the known time, and trusts the second one fully.",
    );
    for (const { name, numbers } of rows(home, "change")) {
      console.log(
        `JDK ${version}, a site changes from ${name}: ${numbers[0]} batches to recover, ${numbers[1]} at most`,
      );
    }
  }
}
