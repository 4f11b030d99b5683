// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures real pages in Chromium. The pages block for a long time by construction. A test measures again until the stall was found: on a busy
// machine, the meter's worker may get no core for the whole stall.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { BrowserSession } from "../../src/jank/browser-session.js";
import { measurePage, type PageOptions } from "../../src/jank/page-run.js";
import type { FoundStall, Run } from "../../src/jank/record.js";
import { parseClick, parseScroll, parseType, parseWait, type Step } from "../../src/jank/step.js";
import { parseTarget } from "../../src/jank/target.js";

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const pages = here("./pages/");
let script: string;
let folder: string;

beforeAll(async () => {
  const { outputFiles } = await build({
    entryPoints: [here("../../src/jank/in-page.ts")],
    bundle: true,
    write: false,
    format: "iife",
    conditions: ["browser"],
    alias: {
      "clearway/meter": here("../../../clearway/src/meter.ts"),
      "#meter-host": here("../../../clearway/src/meter/host/browser.ts"),
    },
    define: { hasProcesses: "false" },
  });
  script = outputFiles[0]!.text;
  folder = mkdtempSync(path.join(tmpdir(), "clearway-jank-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function measure(
  name: string,
  options: Partial<PageOptions> = {},
  opened?: (session: BrowserSession) => void,
): Promise<Run> {
  const target = parseTarget(/^(http|\/)/.test(name) ? name : pages + name) as PageOptions["target"];
  const all = {
    steps: [],
    tailMs: 300,
    timeoutMs: 60_000,
    bypassCsp: false,
    floorMs: 4,
    signal: new AbortController().signal,
  };
  const { run } = await measurePage({ ...all, ...options, target }, { script, ...(opened && { opened }) });
  return run;
}

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

/** Measures with longer and longer limits, until the run got as far as `enough` requires before its limit. */
async function withLimit(name: string, options: Partial<PageOptions>, enough: (run: Run) => boolean): Promise<Run> {
  for (let timeoutMs = 2000; ; timeoutMs *= 2) {
    const run = await measure(name, { ...options, timeoutMs });
    expect(run.outcome).toBe("timeout");
    if (enough(run)) return run;
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
    // The profiler decides which line of the function has most samples. The bundle has only one line.
    expect([1, 2, 3, 4]).toContain(cause.original!.line);
    expect(cause.place!.url).toBe("app.js");
  });
});

describe("a page", () => {
  test("that does nothing completes, and no script is a cause", async () => {
    const run = await measure("smooth.html");
    expect(run).toMatchObject({ outcome: "completed" });
    expect(run.reports).toHaveLength(1);
    expect(run.stalls.filter(({ cause }) => cause.place !== undefined)).toEqual([]);
  });

  test("gets its steps in order: typing, scrolling, a click that navigates", async () => {
    const first = path.join(folder, "first.html");
    const body = `<input id="name"><div style="height:4000px"></div><a id="next" href="second.html">next</a>`;
    writeFileSync(
      first,
      `<!doctype html><title>f</title><body>${body}<script>
      const told = { name: "", scrolled: false };
      const tell = () => { document.querySelector("#next").href = "second.html#" + told.name + told.scrolled; };
      addEventListener("input", (event) => { told.name = event.target.value; tell(); });
      addEventListener("scroll", () => { if (scrollY > 0) told.scrolled = true; tell(); if (told.scrolled) document.body.className = "scrolled"; });
    </script></body>`,
    );
    writeFileSync(
      path.join(folder, "second.html"),
      `<!doctype html><title>s</title><body><p id="there">there</p></body>`,
    );
    const steps = [
      parseType("#name=tea"),
      parseScroll("600"),
      parseWait(".scrolled"),
      parseClick("#next"),
      parseWait("#there"),
    ];
    let address = "";
    const run = await measure(first, { steps }, ({ page }) => {
      page.on("framenavigated", (frame) => {
        address = frame.url();
      });
    });
    expect(run).toMatchObject({ outcome: "completed" });
    expect(address).toMatch(/second\.html#teatrue$/);
    expect(run.reports).toHaveLength(2);
  });

  test("with dialogs goes on, and they are counted", async () => {
    const run = await measure("dialogs.html", { steps: [parseWait(".done")] });
    expect(run.outcome).toBe("completed");
    expect(run.notes).toContain("2 dialogs were closed at once (alert, confirm)");
  });

  test("that never ends a loop is stopped at the limit, and the loop is named", async () => {
    const run = await withLimit("endless.html", { tailMs: 1000 }, ({ last }) => last?.place?.functionName === "spin");
    expect(run.message).toMatch(/^the limit of \d+ s was reached/);
    expect(run.notes.join()).toContain("did not answer");
  });

  test("that never loads is stopped at the limit", async () => {
    const server = http.createServer(() => {});
    await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
    try {
      const run = await measure(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, { timeoutMs: 500 });
      expect(run).toMatchObject({
        outcome: "timeout",
        message: "the limit of 0.5 s was reached during loading. Raise it with --timeout",
      });
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });

  test.each([
    [404, "answered with status 404: check the address"],
    [0, "cannot be loaded: net::ERR_EMPTY_RESPONSE. Check that its server runs"],
  ])("that cannot be loaded (%i) fails with the reason", async (status, message) => {
    const server = http.createServer((request, response) =>
      status === 0 ? request.socket.destroy() : response.writeHead(status).end("gone"),
    );
    await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
    try {
      const run = await measure(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
      expect(run.outcome).toBe("failed");
      expect(run.message).toContain(message);
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });

  test("without the element of a step is stopped at the limit, which names the step", async () => {
    const steps = [parseClick("#nope")];
    const run = await withLimit("smooth.html", { steps }, ({ message }) => message!.includes("no element"));
    expect(run.message).toContain(`during "click #nope" (no element matches it)`);
  });

  test("with a selector that is none is refused", async () => {
    await expect(measure("smooth.html", { steps: [parseClick("a[[")] })).rejects.toThrow(`not a CSS selector: "a[["`);
  });

  test.each([
    ["closes itself", "closed", ({ page }: BrowserSession) => void page.close(), "the page closed itself"],
    [
      "crashes",
      "crashed",
      ({ cdp }: BrowserSession) => void cdp.send("Page.crash").catch(() => {}),
      "the page's process crashed",
    ],
  ])("that %s is reported", async (_, outcome, end, message) => {
    const run = await measure("smooth.html", { tailMs: 60_000 }, (session) =>
      session.page.once("load", () => end(session)),
    );
    expect(run.outcome).toBe(outcome);
    expect(run.message).toContain(message);
  });

  test("that is interrupted keeps what was measured, and leaves nothing behind", async () => {
    const interruption = new AbortController();
    let session: BrowserSession | undefined;
    let address = "";
    const run = await measure("smooth.html", { tailMs: 60_000, signal: interruption.signal }, (opened) => {
      session = opened;
      opened.page.once("load", (page) => {
        address = page.url();
        interruption.abort();
      });
    });
    expect(run.outcome).toBe("interrupted");
    expect(run.reports).toHaveLength(1);
    expect(session!.page.context().browser()!.isConnected()).toBe(false);
    await expect(fetch(address)).rejects.toThrow("fetch failed");
  });

  test("does not see the tool's function, nor its mark", async () => {
    const file = path.join(folder, "looks.html");
    writeFileSync(
      file,
      `<!doctype html><title>l</title><body><script>
      const names = Object.getOwnPropertyNames(globalThis).filter((name) => /jank/i.test(name));
      const marks = performance.getEntriesByType("mark");
      if (names.length === 0 && marks.length === 0) document.body.className = "unseen";
    </script></body>`,
    );
    expect((await measure(file, { steps: [parseWait(".unseen")] })).outcome).toBe("completed");
  });
});
