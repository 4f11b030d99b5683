// SPDX-License-Identifier: MIT OR Apache-2.0
// Chromium as a host: one browser, with each probe in a fresh context and therefore in a fresh renderer process.
import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";
import { source } from "../../measure/source.mjs";
import { standApart, threadsOf } from "./cores.mjs";
import { servePage } from "./page-server.mjs";

/** Chromium's name of a worker's thread. Among the processes that a page starts, only its own one has workers. */
const workerThread = /DedicatedWorker/;

/** Rejects when there is no Chromium, with a message that says what to do. */
export async function openChromium() {
  const find = await source("ts/clearway-lab/src/runner/chromium-find.ts");
  const executablePath = find.findChromium();
  if (executablePath === undefined) throw new Error(find.CHROMIUM_MISSING);
  const server = await servePage();
  const args = [...find.CHROMIUM_FLAGS, "--js-flags=--max-old-space-size=8192"];
  const browser = await chromium.launch({ executablePath, args });
  const cdp = await browser.newBrowserCDPSession();
  const renderers = async () => {
    const { processInfo } = await cdp.send("SystemInfo.getProcessInfo");
    return processInfo.filter(({ type }) => type === "renderer").map(({ id }) => id);
  };

  async function probe(name, params, timeoutMs = 120_000) {
    const before = await renderers();
    const context = await browser.newContext({ viewport: { width: 800, height: 600 } });
    const timer = setTimeout(() => void context.close(), timeoutMs);
    try {
      const page = await context.newPage();
      const own = async () => {
        const found = (await renderers()).filter(
          (pid) => !before.includes(pid) && threadsOf(pid, workerThread).length > 0,
        );
        if (found.length !== 1) throw new Error(`the page's process is not known: renderers=${found.join(" ")}`);
        return found[0];
      };
      await page.exposeFunction("benchStandApart", async () => {
        const pid = await own();
        standApart(pid, threadsOf(pid, workerThread));
      });
      await page.exposeFunction("benchCpuMs", async () => cpuMs(await own()));
      await page.goto(server.url);
      await page.waitForFunction("globalThis.bench !== undefined", undefined, { polling: 10 });
      return await page.evaluate(([name, params]) => globalThis.bench(name, params), [name, params]);
    } finally {
      clearTimeout(timer);
      await context.close().catch(() => {}); // the timer may have closed it already
    }
  }

  return {
    name: "chromium",
    runtime: `Chromium ${browser.version()}`,
    probe,
    close: async () => {
      await browser.close();
      await server.close();
    },
  };
}

/** Returns the processor time of all threads of a process, in milliseconds. The system's own clock ticks are 10 ms; this value is exact. */
function cpuMs(pid) {
  let ns = 0;
  for (const thread of threadsOf(pid))
    ns += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]);
  return ns / 1e6;
}
