// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures what watch() costs: the processor time that it adds to an idle process and page, and the time that it adds to a turn of a busy
// event loop. Usage: node ts/clearway/bench/meter-overhead.mjs [ROUNDS]. Each round runs once with and once without the watch, each time in
// a new process or page. Prints the median of the differences, with their range.
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { chromium } from "playwright-core";
import { chromiumFlags, chromiumPath } from "../../../scripts/chromium.mjs";
import { serveLocally } from "../../../scripts/local-server.mjs";

const run = promisify(execFile);
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const rounds = Number(process.argv[2] ?? 7);
const secondsIdle = 3;
const folder = await mkdtemp(join(tmpdir(), "clearway-bench-"));

async function bundle(host) {
  const outfile = join(folder, `${host}.mjs`);
  await build({
    entryPoints: [here("../src/meter.ts")],
    outfile,
    bundle: true,
    minify: true,
    format: "esm",
    platform: host,
    target: host === "node" ? "node20" : "es2022",
    alias: { "#meter-host": here(`../src/meter/host/${host}.ts`) },
  });
  return outfile;
}

/** Calls `make(true)` and `make(false)` in each round. Returns the median and the range of their differences. */
async function differences(make) {
  const found = [];
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? [true, false] : [false, true];
    const values = new Map();
    for (const watched of order) values.set(watched, await make(watched));
    found.push(values.get(true) - values.get(false));
  }
  found.sort((a, b) => a - b);
  return { median: found[found.length >> 1], low: found[0], high: found.at(-1) };
}

const line = (name, { median, low, high }, unit, digits = 2) =>
  console.log(
    `${name.padEnd(84)} ${median.toFixed(digits)} ${unit} (${low.toFixed(digits)} to ${high.toFixed(digits)}, ${rounds} pairs)`,
  );

console.log(`${cpus()[0].model.trim()}, ${cpus().length} cores, Node ${process.version}`);
const nodeMeter = await bundle("node");
const inNode = async (watched, body) => {
  const file = join(folder, "run.mjs");
  await writeFile(
    file,
    `import { watch } from ${JSON.stringify(nodeMeter)};
     ${watched ? "await watch().ready;" : ""}
     ${body}`,
  );
  return Number((await run(process.execPath, [file])).stdout);
};

// Measures the processor time of all threads of the process, including the watch's own thread.
const idle = `await new Promise((r) => setTimeout(r, 300));
  const from = process.cpuUsage();
  await new Promise((r) => setTimeout(r, ${secondsIdle * 1000}));
  const used = process.cpuUsage(from);
  console.log((used.user + used.system) / 1000 / ${secondsIdle});`;
line("Node, idle: processor time a second, all threads", await differences((w) => inNode(w, idle)), "ms");

// Makes the shortest possible turns of the event loop. Each turn polls for events and runs one empty immediate.
const turns = 300_000;
const busy = `const spin = (left, done) => left === 0 ? done() : setImmediate(spin, left - 1, done);
  await new Promise((r) => spin(50_000, r));
  const from = performance.now();
  await new Promise((r) => spin(${turns}, r));
  console.log(((performance.now() - from) * 1000) / ${turns});`;
line("Node, busy: time added to each turn of the loop", await differences((w) => inNode(w, busy)), "us", 3);

const browserMeter = await bundle("browser");

const code = await readFile(browserMeter);
const server = await serveLocally(({ path }, response) => {
  if (path === "/m.js") response.setHeader("content-type", "text/javascript").end(code);
  else
    response
      .setHeader("content-type", "text/html")
      .end(`<!doctype html><script type=module>import * as meter from "/m.js"; globalThis.meter = meter;</script>`);
});
const browser = await chromium.launch({ executablePath: chromiumPath(), args: chromiumFlags });
console.log(`Chromium ${browser.version()}`);

/**
 * Returns the main thread's time (`main`) and the processor time of the page's renderer (`all`) for an otherwise empty page, in
 * milliseconds per second. Watches the page if there are `options`.
 */
async function inPage(options) {
  const page = await browser.newPage();
  await page.goto(server.url);
  await page.waitForFunction(() => "meter" in globalThis);
  if (options) await page.evaluate(async (given) => void (await meter.watch(given).ready), options);
  await page.waitForTimeout(500);
  const own = await page.context().newCDPSession(page);
  await own.send("Performance.enable");
  const whole = await browser.newBrowserCDPSession();
  const read = async () => {
    const { metrics } = await own.send("Performance.getMetrics");
    const { processInfo } = await whole.send("SystemInfo.getProcessInfo");
    const renderers = processInfo.filter((each) => each.type === "renderer");
    return {
      main: metrics.find((each) => each.name === "TaskDuration").value * 1000,
      all: renderers.reduce((sum, each) => sum + each.cpuTime * 1000, 0),
    };
  };
  const from = await read();
  await page.waitForTimeout(secondsIdle * 1000);
  const to = await read();
  await page.close();
  return { main: (to.main - from.main) / secondsIdle, all: (to.all - from.all) / secondsIdle };
}

for (const given of [{}, { beatMs: 4 }, { frames: false }]) {
  const pairs = [];
  for (let round = 0; round < rounds; round++) {
    const first = await inPage(round % 2 === 0 ? given : undefined);
    const second = await inPage(round % 2 === 0 ? undefined : given);
    const [on, off] = round % 2 === 0 ? [first, second] : [second, first];
    pairs.push({ main: on.main - off.main, all: on.all - off.all });
  }
  for (const key of ["main", "all"]) {
    const sorted = pairs.map((pair) => pair[key]).sort((a, b) => a - b);
    const name = key === "main" ? "main-thread time" : "processor time of the renderer";
    line(
      `Chromium, idle, watch(${JSON.stringify(given)}): ${name} a second`,
      {
        median: sorted[sorted.length >> 1],
        low: sorted[0],
        high: sorted.at(-1),
      },
      "ms",
    );
  }
}
await browser.close();
await server.close();
await rm(folder, { recursive: true, force: true });
