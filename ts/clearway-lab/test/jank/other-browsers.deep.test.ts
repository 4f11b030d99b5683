// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway jank --browser firefox` and `--browser webkit`: how a page is measured where the browser has no trace.
import { writeFileSync } from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { browserProblem } from "../../src/browser/open.js";
import { parseClick, parseScroll, parseType, parseWait } from "../../src/jank/step.js";
import { folder, measure } from "./measure-page.js";
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
    const file = path.join(folder, `load-${browser}.html`);
    const block = "const end = performance.now() + 200; while (performance.now() < end);";
    writeFileSync(file, `<!doctype html><title>l</title><body><script>${block}</script></body>`);
    const run = await measure(file, { browser });
    expect(run.stalls.find(({ lengthMs }) => lengthMs >= 190)?.during).toBe("load");
  });

  having("gets its steps in order: typing, scrolling, a click that navigates", async () => {
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
      `<!doctype html><title>s</title><body><script>if (location.hash === "#teatrue") document.body.id = "there";</script></body>`,
    );
    const steps = [
      parseType("#name=tea"),
      parseScroll("600"),
      parseWait(".scrolled"),
      parseClick("#next"),
      parseWait("#there"),
    ];
    expect(await measure(first, { browser, steps })).toMatchObject({ outcome: "completed" });
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
    const server = http.createServer((_, response) => {
      response.setHeader("content-type", "text/html");
      response.end(`<!doctype html><title>i</title><body><script>setTimeout(() => fetch("/loaded"), 1000)</script>`);
    });
    server.on("request", ({ url }) => url === "/loaded" && interruption.abort());
    await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
    try {
      const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
      const run = await measure(address, { browser, tailMs: 60_000, signal: interruption.signal });
      expect(run.outcome).toBe("interrupted");
      expect(run.reports).toHaveLength(1);
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });

  having("that never loads is stopped at the limit, and the command ends", async () => {
    const server = http.createServer(() => {});
    await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
    try {
      const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
      const { code, stdout } = await jank([address, "--browser", browser, "--timeout", "2"]);
      expect(code).toBe(1);
      expect(stdout.replace(/\s+/g, " ")).toContain("the limit of 2 s was reached during loading");
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });

  having("that cannot be loaded fails with the address", async () => {
    const server = http.createServer(({ socket }) => socket.destroy());
    await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
    try {
      const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
      const run = await measure(address, { browser });
      expect(run.outcome).toBe("failed");
      expect(run.message).toMatch(
        new RegExp(`^${address} cannot be loaded(: NS_ERROR_NET_RESET)?\\. Check that its server runs$`),
      );
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });
});
