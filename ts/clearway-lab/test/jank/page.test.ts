// SPDX-License-Identifier: MIT OR Apache-2.0
// How the measurement of a page in Chromium goes: its steps, its limits and its ends. What a stall is explained by is in page.deep.test.ts.
import type http from "node:http";
import { describe, expect, test } from "vitest";
import type { BrowserSession } from "../../src/jank/browser-session.js";
import type { PageOptions } from "../../src/jank/page-run.js";
import type { Run } from "../../src/jank/record.js";
import { parseClick, parseWait } from "../../src/jank/steps.js";
import { measure, pageOf, STEPS, served } from "./measure-page.js";

/** Measures with longer and longer limits, until the run got as far as `enough` requires before its limit. */
async function withLimit(name: string, options: Partial<PageOptions>, enough: (run: Run) => boolean): Promise<Run> {
  for (let timeoutMs = 2000; ; timeoutMs *= 2) {
    const run = await measure(name, { ...options, timeoutMs });
    expect(run.outcome).toBe("timeout");
    if (enough(run)) return run;
  }
}

describe("a page", () => {
  test("that does nothing completes, and no script is a cause", async () => {
    const run = await measure("smooth.html");
    expect(run).toMatchObject({ outcome: "completed" });
    expect(run.reports).toHaveLength(1);
    expect(run.stalls.filter(({ cause }) => cause.place !== undefined)).toEqual([]);
  });

  test("gets its steps in order: typing, scrolling, a click that navigates", async () => {
    let address = "";
    const run = await measure("steps.html", { steps: STEPS }, ({ page }) => {
      page.on("framenavigated", (frame) => {
        address = frame.url();
      });
    });
    expect(run).toMatchObject({ outcome: "completed" });
    expect(address).toMatch(/stepped\.html#teatrue$/);
    expect(run.reports).toHaveLength(2);
  });

  test("with dialogs goes on, and they are counted", async () => {
    const run = await measure("dialogs.html", { steps: [parseWait(".done")] });
    expect(run.outcome).toBe("completed");
    expect(run.notes).toContain("2 dialogs were closed at once (alert, confirm)");
  });

  test("that never loads is stopped at the limit", async () => {
    const never = () => {};
    expect(await served(never, (address) => measure(address, { timeoutMs: 500 }))).toMatchObject({
      outcome: "timeout",
      message: "the limit of 0.5 s was reached during loading. Raise it with --timeout",
    });
  });

  test.each<[string, http.RequestListener, string]>([
    ["an answer", (_, response) => response.writeHead(404).end("gone"), "answered with status 404: check the address"],
    [
      "no answer",
      ({ socket }) => socket.destroy(),
      "cannot be loaded: net::ERR_EMPTY_RESPONSE. Check that its server runs",
    ],
  ])("that cannot be loaded fails with the reason of %s", async (_, answer, message) => {
    const run = await served(answer, (address) => measure(address));
    expect(run.outcome).toBe("failed");
    expect(run.message).toContain(message);
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
    const file = pageOf(
      "looks.html",
      `const names = Object.getOwnPropertyNames(globalThis).filter((name) => /jank/i.test(name));
      const marks = performance.getEntriesByType("mark");
      if (names.length === 0 && marks.length === 0) document.body.className = "unseen";`,
    );
    expect((await measure(file, { steps: [parseWait(".unseen")] })).outcome).toBe("completed");
  });
});
