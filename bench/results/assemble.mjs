// SPDX-License-Identifier: MIT OR Apache-2.0
// Builds results.json from a run; spec/results.schema.json defines its shape.
import { existsSync, readFileSync } from "node:fs";
import { source } from "../../measure/source.mjs";

const peers = [
  "piscina",
  "tinypool",
  "workerpool",
  "poolifier",
  "comlink",
  "capnweb",
  "osra",
  "msgpackr",
  "cbor-x",
  "koffi",
];

const facts = await source("ts/clearway-lab/src/machine/facts.ts");
const { machineWarnings } = await source("ts/clearway-lab/src/run/machine-warnings.ts");

/** Returns the facts that must be collected before the run. */
export function before() {
  return {
    machine: facts.machineFacts(),
    times: facts.cpuTimes(),
    startedAt: new Date().toISOString(),
    begin: performance.now(),
  };
}

/** Returns the whole file as an object. */
export function assemble({ known, profile, seed, planned, done, interrupted, runtimes, cells, noiseFloor }) {
  const machine = { ...known.machine, stealPercent: facts.stealPercent(known.times, facts.cpuTimes()) };
  const build = { ...facts.buildFacts(runtimes.chromium ?? null), peers: versions() };
  return {
    version: 1,
    run: {
      profile,
      seed,
      startedAt: known.startedAt,
      durationMs: Math.round(performance.now() - known.begin),
      measurementsPlanned: planned,
      measurementsDone: done,
      interrupted,
      runtimes,
    },
    cells,
    machine,
    build,
    noiseFloor,
    warnings: [
      ...doubts({ profile, interrupted, planned, done, cells, noiseFloor }),
      ...machineWarnings({ machine, build, cells: [], hosts: {} }),
    ],
  };
}

/** Throws an Error with the paths at which the object does not match the schema. */
export async function assertResults(results) {
  const schema = await source("ts/clearway-lab/src/run/schema.ts");
  schema.assertResults(results);
}

function doubts({ profile, interrupted, planned, done, cells, noiseFloor }) {
  const warnings = [];
  if (interrupted)
    warnings.push({
      code: "interrupted",
      message: `${done} of ${planned} lines were measured.`,
      next: "run it again and let it end",
    });
  for (const { scenario, host, why } of cells.filter(
    ({ family, status }) => family === "promise" && status === "failed",
  ))
    warnings.push({
      code: "cell-failed",
      message: `${scenario} on ${host}: ${why}`,
      next: "run it alone: make bench with --only",
    });
  for (const { host, params, mechanism, ratio } of noiseFloor.filter(({ ratio }) => ratio > noiseHigh))
    warnings.push({
      code: "noise-high",
      message: `${twins(mechanism, params)} lay a factor ${ratio} apart (${host}): ratios nearer to 1 than that say nothing.`,
      next: "close other programs, or use --profile full",
    });
  if (profile === "quick")
    warnings.push({
      code: "few-rounds",
      message: "The quick profile has 3 to 15 rounds a line: the middle half rests on few numbers.",
      next: "use --profile full",
    });
  return warnings;
}

function twins(mechanism, { state, gapMs }) {
  if (state === undefined) return `The same thing measured twice (${mechanism})`;
  return `Two workers behind the same bare ${mechanism} (${state}, gap ${gapMs} ms)`;
}

/** A factor between two runs of the same thing above which the targets 1.1 and 1.15 mean nothing. */
const noiseHigh = 1.1;

function versions() {
  const manifest = (name) => new URL(`../../node_modules/${name}/package.json`, import.meta.url);
  const version = (name) =>
    existsSync(manifest(name)) ? JSON.parse(readFileSync(manifest(name), "utf8")).version : "not installed";
  return Object.fromEntries(peers.map((name) => [name, version(name)]));
}
