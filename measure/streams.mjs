// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures how long streams keep a main thread from running a timer, for many shapes of values, by ring and by port, in Node and Chromium.
// node measure/streams.mjs CARRIER: prints the longest waits in this process, as JSON.
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { chromiumFlags, chromiumPath } from "../scripts/chromium.mjs";
import { refuse, serveLocally } from "../scripts/local-server.mjs";
import { isProgram } from "../scripts/problems.mjs";
import { longestWaits } from "./stream-shapes.mjs";

const run = promisify(execFile);
const pathOf = (name) => fileURLToPath(new URL(name, import.meta.url));
const rounds = Number(process.env.CLEARWAY_MEASURE_ROUNDS ?? 9);
const carriers = { ring: "auto", port: "port" };

const page = `<!doctype html><title>streams</title><script type=module>
  import { pool } from "/library/index.js";
  import { longestWaits } from "/stream-shapes.mjs";
  // A page's setTimeout waits for at least 4 ms when timers set one another. A task with a delay does not.
  const later = (next) => scheduler.postTask(next, { delay: 1 });
  globalThis.measure = async (carrier, rounds) => {
    const tasks = pool(new URL("/streams.tasks.mjs", location.href), { size: 1, carrier });
    const waits = await longestWaits(tasks, rounds, later);
    await tasks.close();
    return waits;
  };
</script>`;

/**
 * Yields one figure per host, carrier and shape: the longest wait of each round. One value is received in one piece, so the shapes have
 * no value that takes longer than the limit by itself. Takes some minutes. `CLEARWAY_MEASURE_ROUNDS` sets the number of rounds.
 */
export async function* streams() {
  for (const [name, carrier] of Object.entries(carriers)) {
    const { stdout } = await run(process.execPath, [pathOf("./streams.mjs"), carrier]);
    yield* figuresOf("Node", name, JSON.parse(stdout));
  }
  const server = await serve();
  const { chromium } = await import("playwright-core"); // not in the process that is measured
  const browser = await chromium.launch({ executablePath: chromiumPath(), args: chromiumFlags });
  try {
    const opened = await browser.newPage();
    await opened.goto(server.url);
    await opened.waitForFunction(() => "measure" in globalThis);
    for (const [name, carrier] of Object.entries(carriers)) {
      yield* figuresOf(
        "Chromium",
        name,
        await opened.evaluate(([each, times]) => measure(each, times), [carrier, rounds]),
      );
    }
  } finally {
    await browser.close();
    await server.close();
  }
}

function* figuresOf(host, carrier, waits) {
  for (const [shape, samples] of Object.entries(waits)) {
    const name = `longest wait of a timer beside a stream, ${host}, ${carrier}: ${shape}`;
    yield { name, unit: "ms", sense: "at most", limit: 8, samples };
  }
}

/** Serves the page, the built library, the shapes and the tasks on loopback. The page is isolated, so that it has shared memory. */
function serve() {
  const library = pathOf("../ts/clearway/dist/browser/");
  const files = {
    "/stream-shapes.mjs": pathOf("./stream-shapes.mjs"),
    "/streams.tasks.mjs": pathOf("./streams.tasks.mjs"),
  };
  return serveLocally(async ({ path }, response) => {
    response.setHeader("cross-origin-opener-policy", "same-origin");
    response.setHeader("cross-origin-embedder-policy", "require-corp");
    if (path === "/") return response.setHeader("content-type", "text/html").end(page);
    const name = /^\/library\/([\w-]+\.js)$/.exec(path)?.[1];
    const file = (Object.hasOwn(files, path) && files[path]) || (name && library + name);
    const text = file && (await readFile(file, "utf8").catch(() => undefined));
    if (text === undefined) return refuse(response, 404);
    response.setHeader("content-type", "text/javascript");
    return response.end(text.replace('"clearway/worker"', '"/library/worker.js"'));
  });
}

if (isProgram(import.meta)) {
  const { pool } = await import("clearway");
  const tasks = pool(new URL("./streams.tasks.mjs", import.meta.url), { size: 1, carrier: process.argv[2] });
  console.log(JSON.stringify(await longestWaits(tasks, rounds, (next) => setTimeout(next, 1))));
  await tasks.close();
}
