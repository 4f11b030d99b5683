// SPDX-License-Identifier: MIT OR Apache-2.0
// Which function a stall is explained by: what Chromium's sampling profiler says of real pages. The pages block for a long time by construction.
// A test measures again until the stall was found: on a busy machine, the meter's worker may get no core for the whole stall. cause.test.ts
// explains recorded profiles.
import { writeFileSync } from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";
import type { FoundStall } from "../../src/jank/record.js";
import { parseClick, parseWait, type Step } from "../../src/jank/steps.js";
import { folder, measure } from "./measure-page.js";

/** Measures a page until a stall has a place in `functionName`. */
async function stallIn(name: string, functionName: string, steps: Step[] = [parseWait(".done")]): Promise<FoundStall> {
  for (;;) {
    const run = await measure(name, { steps });
    expect(run.message).toBeUndefined();
    const found = run.stalls.find(({ cause }) =>
      [cause.place?.functionName, cause.original?.functionName].includes(functionName),
    );
    if (found !== undefined) return found;
  }
}
describe("a page that blocks", () => {
  test("in a timer after a click is explained by function, line and step", async () => {
    const { cause, during } = await stallIn("timer.html", "block", [parseClick("#go"), parseWait(".done")]);
    expect(cause.place!.url).toBe("timer.html");
    // The profiler decides which line of the function has most samples.
    expect(cause.code).toMatch(/while|block|end/);
    expect(cause.callers.map(({ functionName }) => functionName)).toContain("onTimer");
    expect(["click #go", "wait for .done"]).toContain(during);
  });

  test("in a chain of promises is explained by the function in the chain", async () => {
    const { cause } = await stallIn("promises.html", "burn");
    expect(cause.callers.map(({ functionName }) => functionName)).toContain("chain");
  });

  test("in layout is explained by the function that forces it", async () => {
    const { cause } = await stallIn("layout.html", "resizeRows");
    expect(cause.parts.layout).toBeGreaterThan(0);
  });

  test("in garbage collection is explained by the function that fills the heap", async () => {
    const { cause } = await stallIn("gc.html", "fillHeap");
    expect(cause.parts.gc).toBeGreaterThan(0);
  });

  test("in a large JSON.parse is explained by the function that calls it", async () => {
    const { cause } = await stallIn("json.html", "readAll");
    expect(cause.code).toContain("JSON.parse(text)");
  });

  test("in a third party's script is explained by that script", async () => {
    const third = http.createServer((_, response) => {
      response.setHeader("content-type", "text/javascript");
      response.end(`function track() { const end = performance.now() + 400; while (performance.now() < end); document.body.className = "done"; }
setTimeout(track, 50);`);
    });
    await new Promise<void>((ready) => third.listen(0, "127.0.0.1", ready));
    try {
      const origin = `http://127.0.0.1:${(third.address() as AddressInfo).port}`;
      const file = path.join(folder, "third.html");
      writeFileSync(file, `<!doctype html><title>t</title><body><script src="${origin}/track.js"></script></body>`);
      const { cause } = await stallIn(file, "track");
      expect(cause.thirdParty).toBe(true);
      expect(cause.place!.url).toBe(`${origin}/track.js`);
    } finally {
      third.close();
      third.closeAllConnections();
    }
  });

  test("in a bundle is explained by the original file and function", async () => {
    const source = `function countPrimes(until: number): number {
  let found = 0;
  for (let n = 2; performance.now() < until; n++) found += n % 7;
  return found;
}
setTimeout(() => {
  document.title = String(countPrimes(performance.now() + 400));
  document.body.className = "done";
}, 50);`;
    await build({
      stdin: { contents: source, sourcefile: "prime.ts", loader: "ts" },
      bundle: true,
      minify: true,
      sourcemap: true,
      outfile: path.join(folder, "app.js"),
    });
    const file = path.join(folder, "bundled.html");
    writeFileSync(file, `<!doctype html><title>b</title><body><script src="app.js"></script></body>`);
    const { cause } = await stallIn(file, "countPrimes");
    expect(cause.original).toMatchObject({ functionName: "countPrimes", source: "prime.ts" });
    // The profiler decides which line of the function has most samples, its last one included. The bundle has only one line.
    expect([1, 2, 3, 4, 5]).toContain(cause.original!.line);
    expect(cause.place!.url).toBe("app.js");
  });

  test("in a loop without an end is stopped at the limit, and the loop is named", async () => {
    for (let timeoutMs = 2000; ; timeoutMs *= 2) {
      const run = await measure("endless.html", { tailMs: 1000, timeoutMs });
      expect(run.outcome).toBe("timeout");
      if (run.last?.place?.functionName !== "spin") continue;
      expect(run.message).toMatch(/^the limit of \d+ s was reached/);
      expect(run.notes.join()).toContain("did not answer");
      break;
    }
  });
});
