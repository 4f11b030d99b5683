// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway jank --browser firefox` and `--browser webkit`: how a page is measured where the browser has no trace.
import { describe, expect, test } from "vitest";
import { browserProblem } from "../../src/browser/open.js";
import { parseClick, parseWait } from "../../src/jank/steps.js";
import { measure, pageOf, STEPS, served } from "./measure-page.js";
import { jank } from "./run-jank.js";

describe.each(["firefox", "webkit"] as const)("a page in %s", (browser) => {
  const having = test.skipIf(browserProblem(browser) !== undefined);

  having("has its stalls and frames, and the run says what the browser does not show", async () => {
    const run = await measure("timer.html", { browser, steps: [parseClick("#go"), parseWait(".done")] });
    expect(run).toMatchObject({ outcome: "completed" });
    expect(run.reports).toHaveLength(1);
    expect(run.figures.frames60.dropped).toBeGreaterThan(0);
    const longest = run.stalls.reduce((a, b) => (a.lengthMs >= b.lengthMs ? a : b));
    expect(longest.lengthMs).toBeGreaterThanOrEqual(390);
    expect(["click #go", "wait for .done"]).toContain(longest.during);
    expect(run.notes.join()).toContain("has no CPU profile, no trace and no long animation frames");
  });

  having("has the stalls of its own load", async () => {
    const file = pageOf("load.html", "const end = performance.now() + 200; while (performance.now() < end);");
    const run = await measure(file, { browser });
    expect(run.stalls.find(({ lengthMs }) => lengthMs >= 190)?.during).toBe("load");
  });

  having("gets its steps in order: typing, scrolling, a click that navigates", async () => {
    expect(await measure("steps.html", { browser, steps: STEPS })).toMatchObject({ outcome: "completed" });
  });

  having("that never answers is stopped at the limit, with the stall until then", async () => {
    const run = await measure("endless.html", { browser, timeoutMs: 6000 });
    expect(run.outcome).toBe("timeout");
    expect(run.stalls.at(-1)).toMatchObject({ open: true });
    expect(run.notes).toContain("the page did not answer: its last stall would have been longer");
  });

  having("with dialogs goes on", async () => {
    const run = await measure("dialogs.html", { browser, steps: [parseWait(".done")] });
    expect(run).toMatchObject({ outcome: "completed" });
  });

  having("that is interrupted keeps what was measured", async () => {
    const interruption = new AbortController();
    const run = await served(
      ({ url }, response) => {
        if (url === "/loaded") interruption.abort();
        response.setHeader("content-type", "text/html");
        response.end(`<!doctype html><title>i</title><body><script>setTimeout(() => fetch("/loaded"), 1000)</script>`);
      },
      (address) => measure(address, { browser, tailMs: 60_000, signal: interruption.signal }),
    );
    expect(run.outcome).toBe("interrupted");
    expect(run.reports).toHaveLength(1);
  });

  having("that never loads is stopped at the limit, and the command ends", async () => {
    const { code, stdout } = await served(
      () => {},
      (address) => jank([address, "--browser", browser, "--timeout", "2"]),
    );
    expect(code).toBe(1);
    expect(stdout.replace(/\s+/g, " ")).toContain("the limit of 2 s was reached during loading");
  });

  having("that cannot be loaded fails with the address", async () => {
    const run = await served(
      ({ socket }) => socket.destroy(),
      (address) => measure(address, { browser }),
    );
    expect(run.outcome).toBe("failed");
    expect(run.message).toMatch(
      /^http:\/\/127\.0\.0\.1:\d+\/ cannot be loaded(: NS_ERROR_NET_RESET)?\. Check that its server runs$/,
    );
  });
});
