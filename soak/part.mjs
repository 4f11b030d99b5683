// SPDX-License-Identifier: MIT OR Apache-2.0
// The child process of one part: `node --expose-gc soak/part.mjs PART SEED`. Runs the part's operations at random, several at once, until
// its parent says stop. Sends `{ sample, report }` when the parent asks. After the end, it must exit by itself: a handle that is left keeps
// the process running, and the parent reports that.
import { readdirSync, readFileSync } from "node:fs";
import { uniformFloat64 } from "pure-rand/distribution/uniformFloat64";
import { mersenne } from "pure-rand/generator/mersenne";
import { Tally } from "./tally.mjs";

// Without its parent, nothing would stop this process.
const orphaned = () => process.exit(1);
process.on("disconnect", orphaned);

const [path, seed] = process.argv.slice(2);
const tally = new Tally();
process.on("unhandledRejection", (reason) => tally.unexpected(`unhandled rejection: ${reason?.stack ?? reason}`));
process.on("uncaughtException", (error) => tally.unexpected(`uncaught: ${error?.stack ?? error}`));
process.on("warning", (warning) => {
  if (warning.name === "MaxListenersExceededWarning") tally.unexpected(String(warning.stack));
});

const random = randomOf(Number(seed));
const { open } = await import(path);
let part = await open({ random, tally });
const choose = chooser(part.operations, random);

let stopping = false;
let quota = Number.POSITIVE_INFINITY;
let renewals = 0;
let turn = Promise.resolve();

/** Closes the part and opens it anew, so that starts and ends are under load, too. Operations of the old one settle with errors. */
async function renew() {
  const old = part;
  part = await open({ random, tally });
  renewals++;
  await tally.run("close", [], () => old.close());
}

async function loop() {
  while (!stopping && quota-- > 0) {
    const { name, expected = [], run } = choose();
    const now = part;
    const errors = [...expected, ...now.closing];
    await tally.run(name, errors, () => run(now));
    if (random() < now.renewEach) {
      turn = turn.then(renew);
      await turn;
    }
  }
}

async function end() {
  stopping = true;
  await Promise.all(loops);
  await tally.run("close", [], () => part.close());
}

const answer = (kind) => process.send({ kind, sample: sample(), report: { ...tally.report(), renewals } });
let loops = [];
process.on("message", async ({ do: command, operations, width }) => {
  if (command === "start") {
    quota = operations ?? Number.POSITIVE_INFINITY;
    loops = Array.from({ length: width ?? part.width }, loop);
    await Promise.all(loops);
    process.send({ kind: "done" });
  } else if (command === "sample") answer("sample");
  else {
    await end();
    answer("ended");
    // From here on, only handles of the part can keep this process running.
    process.off("disconnect", orphaned);
    process.disconnect();
  }
});
process.send({ kind: "ready" });

/** Returns a function that gives numbers from 0 to below 1. A seed repeats them. */
function randomOf(seed) {
  const generator = mersenne(seed);
  return () => uniformFloat64(generator);
}

/** Returns a function that chooses from `weighted`, a list of `{ weight }`. */
function chooser(weighted, random) {
  const total = weighted.reduce((sum, { weight }) => sum + weight, 0);
  return () => {
    let left = random() * total;
    for (const each of weighted) {
      left -= each.weight;
      if (left < 0) return each;
    }
    return weighted[weighted.length - 1];
  };
}

// Linux has all that `sample` measures; where /proc is missing, threads, files and children are left out.
function counted(read) {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function childProcesses() {
  return readdirSync("/proc/self/task").flatMap((thread) =>
    (counted(() => readFileSync(`/proc/self/task/${thread}/children`, "utf8")) ?? "").split(" ").filter(Boolean),
  ).length;
}

/**
 * Returns the process's memory in bytes, and its numbers of threads, open files, child processes, and handles that keep it running. Collects
 * garbage first, if Node runs with --expose-gc: the heap is then what is still in use.
 */
function sample() {
  globalThis.gc?.();
  const { rss, heapUsed, external, arrayBuffers } = process.memoryUsage();
  return {
    rss,
    heap: heapUsed,
    buffers: external + arrayBuffers,
    threads: counted(() => Number(/^Threads:\s*(\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))[1])),
    // Reading the folder opens it, so one file is not counted.
    files: counted(() => readdirSync("/proc/self/fd").length - 1),
    children: counted(childProcesses),
    handles: process.getActiveResourcesInfo().length,
  };
}
