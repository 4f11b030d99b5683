#!/usr/bin/env node
// SPDX-License-Identifier: MIT OR Apache-2.0
// `make soak HOURS=1`: runs pools, channels, plugins and remote pools under mixed load for a long time, while faults are
// injected. README.md in this folder explains it. The exit status is 0 if all parts passed, 1 if one failed, and 2 after a wrong option.
import { fork } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { plugins } from "../scripts/native.mjs";
import { natsMissing } from "./nats-server.mjs";
import { faultsOf, trendsOf } from "./verdict.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const addonMissing = () => !existsSync(join(root, "ts/clearway-native/dist/clearway.node"));

/** The parts. `missing` says what a part needs that this machine does not have. */
const parts = {
  pools: {},
  processes: {},
  channels: {},
  plugins: {
    missing: () =>
      addonMissing()
        ? "clearway-native is not built (make build, with Rust)"
        : existsSync(plugins.c.example)
          ? undefined
          : "the example plugin is not built (make native)",
  },
  remote: {
    missing: () =>
      existsSync(join(root, "ts/clearway-nats/dist/index.js"))
        ? natsMissing()
        : "clearway-nats is not built (make build)",
  },
};

const usage = `Use: node soak/run.mjs [--hours N | --minutes N | --operations N] [--parts a,b] [--seed N]
     [--every SECONDS] [--end-seconds N] [--minutes-at-most N] [--out FOLDER]
Parts: ${Object.keys(parts).join(", ")}, or paths of modules`;

function fail(message) {
  console.error(`soak: ${message}\n${usage}`);
  process.exit(2);
}

function optionsOf(args) {
  const names = ["hours", "minutes", "operations", "minutes-at-most", "end-seconds", "parts", "seed", "every", "out"];
  const options = Object.fromEntries(names.map((name) => [name, { type: "string" }]));
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    return fail(error.message);
  }
}

function numberOf(name, value, least) {
  const number = Number(value);
  if (value.trim() !== "" && Number.isFinite(number) && number >= least) return number;
  return fail(`--${name} must be a number of at least ${least}: --${name}=${value}`);
}

const options = optionsOf(process.argv.slice(2));
const lengths = ["hours", "minutes", "operations"].filter((name) => options[name] !== undefined);
if (lengths.length > 1) fail(`give one of --${lengths.join(" and --")}`);
const operations =
  options.operations === undefined ? undefined : Math.ceil(numberOf("operations", options.operations, 1));
const hours =
  options.minutes === undefined
    ? numberOf("hours", options.hours ?? "1", 1e-6)
    : numberOf("minutes", options.minutes, 1e-4) / 60;
const seed = options.seed === undefined ? Date.now() % 2 ** 31 : numberOf("seed", options.seed, 0);
const everyMs =
  1000 * (options.every === undefined ? Math.min(15, Math.max(1, hours * 36)) : numberOf("every", options.every, 0.1));
const out = resolve(options.out ?? join(root, "out/soak"));
/** Time that a part may take to end, after its operations have been told to stop. The slowest operation takes a few seconds. */
const endMs = 1000 * numberOf("end-seconds", options["end-seconds"] ?? "60", 0.1);
/** With `--operations`: the time after which the rest of them is not started. */
const mostMs = 60_000 * numberOf("minutes-at-most", options["minutes-at-most"] ?? "10", 1e-3);

const chosen = (options.parts ?? Object.keys(parts).join(",")).split(",").map((name) => {
  if (Object.hasOwn(parts, name))
    return { name, path: fileURLToPath(new URL(`parts/${name}.mjs`, import.meta.url)), ...parts[name] };
  if (existsSync(name)) return { name: name.replace(/^.*\/|\.mjs$/g, ""), path: resolve(name) };
  return fail(`there is no part and no file "${name}"`);
});

const children = new Set();
process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL");
});

/** Returns a promise, and the function that resolves it. */
function mark() {
  let reach;
  const reached = new Promise((resolveReached) => (reach = resolveReached));
  return { reached, reach };
}

/** Runs a part until `stop` resolves, or until it has made its operations. Returns its samples and its last report. */
async function run(part, number, stop) {
  const missing = part.missing?.();
  if (missing !== undefined) return { name: part.name, missing, samples: [], trends: [] };
  const child = fork(fileURLToPath(new URL("part.mjs", import.meta.url)), [part.path, String(seed + number)], {
    execArgv: ["--expose-gc"],
  });
  children.add(child);
  const began = performance.now();
  const samples = [];
  let report;
  let died;
  let ended;
  const marks = { ready: mark(), done: mark(), ended: mark() };
  const exit = new Promise((resolveExit) => {
    child.once("exit", (code, signal) => {
      children.delete(child);
      const end = () => {
        if (ended === undefined) died = signal ?? `exit code ${code}`;
        for (const { reach } of Object.values(marks)) reach();
        resolveExit(code);
      };
      // If several processes exit at once, Node reports an exit before it has read the last messages of the process.
      if (child.connected) child.once("disconnect", end);
      else end();
    });
  });
  child.on("error", (error) => (died = String(error)));
  child.on("message", (message) => {
    if (message.sample !== undefined) {
      samples.push({ at: (performance.now() - began) / 1000, ...message.sample });
      report = message.report;
    }
    if (message.kind === "ended") ended = message;
    marks[message.kind]?.reach();
  });
  const send = (message) => {
    if (child.connected) child.send(message, () => {});
  };
  await marks.ready.reached;
  send({ do: "start", operations });
  const timer = setInterval(() => send({ do: "sample" }), everyMs);
  await Promise.race([stop, marks.done.reached]);
  clearInterval(timer);
  send({ do: "sample" });
  send({ do: "stop" });
  await Promise.race([marks.ended.reached, pause(endMs, undefined, { ref: false })]);
  const exited = await Promise.race([exit.then(() => true), pause(ended ? endMs : 0, false, { ref: false })]);
  if (!exited) child.kill("SIGKILL");
  // The last sample is taken after the end, when nothing is in use. It is no part of the trend.
  const after = ended === undefined ? undefined : samples.pop();
  const trends = trendsOf(samples);
  const result = { name: part.name, died, ended: ended !== undefined, exited, after, report, trends, samples };
  return { ...result, faults: faultsOf({ ...result, ended }) };
}

const stop = new AbortController();
const stopped = new Promise((resolveStop) => stop.signal.addEventListener("abort", resolveStop, { once: true }));
process.once("SIGINT", () => {
  console.error("soak: stopping; press again to end at once");
  stop.abort();
});
void pause(operations === undefined ? hours * 3_600_000 : mostMs, undefined, { ref: false }).then(() => stop.abort());

const length =
  operations === undefined ? `${Number((hours * 60).toPrecision(3))} minutes` : `${operations} operations each`;
console.log(`soak: ${chosen.map(({ name }) => name).join(", ")}, ${length}, seed ${seed}`);
const at = new Date().toISOString();
const load = loadavg()[0];
const keepAlive = setInterval(() => {}, 1 << 30);
const results = await Promise.all(chosen.map((part, number) => run(part, number, stopped)));
clearInterval(keepAlive);

const machine = { cpu: cpus()[0]?.model ?? "unknown", cores: cpus().length, node: process.version, load };
const record = {
  version: 1,
  at,
  seed,
  hours: operations === undefined ? hours : undefined,
  operations,
  machine,
  parts: results,
};
mkdirSync(out, { recursive: true });
writeFileSync(join(out, "soak.json"), `${JSON.stringify(record, null, 1)}\n`);

const by = (growth) => (growth === undefined ? "" : ` (${growth < 0 ? "" : "+"}${Number(growth.toPrecision(2))})`);
for (const { name, missing, report, trends, faults = [] } of results) {
  if (missing !== undefined) {
    console.log(`  missing  ${name}: ${missing}`);
    continue;
  }
  const counts = `${report?.settled ?? 0} of ${report?.started ?? 0} operations settled`;
  const flat = trends.map(({ name: quantity, verdict, growth }) => `${quantity} ${verdict}${by(growth)}`).join(", ");
  console.log(`  ${faults.length === 0 ? "passed " : "FAILED "}  ${name}: ${counts}; ${flat || "no samples"}`);
  for (const fault of faults) console.log(`             ${fault.split("\n").join("\n               ")}`);
}
console.log(`soak: ${join(out, "soak.json")}`);
process.exitCode = results.some(({ faults = [] }) => faults.length > 0) ? 1 : 0;
