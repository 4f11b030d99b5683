// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests in Node and in a Chromium page whether the meter finds stalls of known length with an error of at most 1 ms or 5 %. Also tests its
// count of dropped frames. node measure/meter.mjs: prints the result of `errorsByLength` in this process, as JSON.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { chromiumFlags, chromiumPath } from "../scripts/chromium.mjs";
import { sendFile, serveLocally } from "../scripts/local-server.mjs";
import { node24 } from "../scripts/node24.mjs";
import { isProgram } from "../scripts/problems.mjs";
import { errorsByLength, figuresOf, toleranceMs } from "./known-stalls.mjs";

const run = promisify(execFile);

const library = fileURLToPath(new URL("../ts/clearway/dist/browser/", import.meta.url));
const measure = fileURLToPath(new URL("./", import.meta.url));
const page = `<!doctype html><title>stalls</title><script type=module>
  import * as meter from "/library/meter.js"; import * as known from "/known-stalls.mjs"; Object.assign(globalThis, { meter, known });
</script>`;
const freezeMs = 300;
const freezes = 6;

/** Serves the page, the built library and the files next to known-stalls.mjs on loopback. */
const serve = () =>
  serveLocally(({ path }, response) => {
    if (path === "/") return response.setHeader("content-type", "text/html").end(page);
    if (path.startsWith("/library/")) return sendFile(library, path.slice("/library".length), response);
    return sendFile(measure, path, response);
  });

/** Yields one figure per stall length, and the share of due frames that the meter counted as dropped. Takes about 20 s. */
export async function* chromiumMeter() {
  const server = await serve();
  const { chromium } = await import("playwright-core"); // not in the process that is measured
  const browser = await chromium.launch({ executablePath: chromiumPath(), args: chromiumFlags });
  try {
    const opened = await browser.newPage();
    await opened.goto(server.url);
    await opened.waitForFunction(() => "known" in globalThis);
    const found = await opened.evaluate(() => known.errorsByLength(meter, () => Number.POSITIVE_INFINITY));
    yield* figuresOf(`Chromium ${browser.version()}`, found);
    const counts = await opened.evaluate(
      async ([ms, times]) => {
        const all = [];
        for (let time = 0; time < times; time++) {
          const { report } = await meter.measure(async () => {
            await new Promise((resolve) => setTimeout(resolve, 20));
            const end = performance.now() + ms;
            while (performance.now() < end);
            await new Promise((resolve) => setTimeout(resolve, 20));
          });
          all.push({ dropped: report.frames.dropped, hz: report.frames.hz });
        }
        return all;
      },
      [freezeMs, freezes],
    );
    yield {
      // A stall delays all frames that are due during it except two: one was requested before the stall, and one comes at its end.
      name: `frames counted as dropped by ${freezeMs} ms, Chromium, over those that are due less two`,
      unit: "ratio",
      sense: "at least",
      limit: 1,
      samples: counts.map(({ dropped, hz }) => dropped / (Math.floor((freezeMs / 1000) * hz - 0.5) - 2)),
    };
  } finally {
    await browser.close();
    await server.close();
  }
}

/** Yields one figure per stall length, on this Node and on Node 24. Takes about 15 s for each. */
export async function* nodeMeter() {
  const newer = node24();
  for (const program of [process.execPath, ...(newer ? [newer] : [])]) {
    const { stdout: version } = await run(program, ["-p", "process.versions.node"]);
    const { stdout } = await run(program, [fileURLToPath(import.meta.url)]);
    yield* figuresOf(`Node ${version.trim()}`, JSON.parse(stdout));
  }
}

if (isProgram(import.meta)) {
  const meter = await import("clearway/meter");
  // The machine may add at most half of the meter's tolerance to a stall.
  process.stdout.write(JSON.stringify(await errorsByLength(meter, (ms) => toleranceMs(ms) / 2)));
}
