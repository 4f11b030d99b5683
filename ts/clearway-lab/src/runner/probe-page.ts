// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs a probe of the profile `promises` in a new page. Pins the page's threads and reads its processor time, which a page cannot do.
import { readFileSync } from "node:fs";
import type { Browser } from "playwright-core";
import { pinToTwoCores, threadsOf } from "../machine/cores.js";
import type { Json, ProbeRequest } from "../protocol/message.js";
import { PROMISES_PAGE } from "./page-server.js";

/** The name of a worker's thread in Chromium. Of the processes that a page starts, only the page's own one has workers. */
const WORKER_THREAD = /DedicatedWorker/;

interface ProbePage {
  labProbe(name: string, params: Json): Promise<unknown>;
}

/** Runs a probe in its own context, which has its own renderer process. Rejects with the probe's error. */
export async function runProbe(browser: Browser, serverUrl: string, probe: ProbeRequest): Promise<Json> {
  const cdp = await browser.newBrowserCDPSession();
  const renderers = async () => {
    const { processInfo } = await cdp.send("SystemInfo.getProcessInfo");
    return processInfo.filter(({ type }) => type === "renderer").map(({ id }) => id);
  };
  const before = await renderers();
  const own = async (): Promise<number> => {
    const found = (await renderers()).filter(
      (pid) => !before.includes(pid) && threadsOf(pid, WORKER_THREAD).length > 0,
    );
    if (found.length !== 1) throw new Error(`the page's process is not known: renderers=${found.join(" ")}`);
    return found[0] as number;
  };
  const context = await browser.newContext({ viewport: { width: 800, height: 600 } });
  try {
    const page = await context.newPage();
    await page.exposeFunction("labStandApart", async () => {
      const pid = await own();
      pinToTwoCores(pid, threadsOf(pid, WORKER_THREAD));
    });
    await page.exposeFunction("labCpuMs", async () => cpuMs(await own()));
    await page.goto(serverUrl + PROMISES_PAGE);
    await page.waitForFunction("globalThis.labProbe !== undefined", undefined, { polling: 10 });
    // The probe is passed as text, because playwright computes an infinite type for a recursive JSON type.
    const answer = await page.evaluate((text: string): Promise<unknown> => {
      const { name, params } = JSON.parse(text) as ProbeRequest;
      return (globalThis as unknown as ProbePage).labProbe(name, params);
    }, JSON.stringify(probe));
    return answer as Json;
  } finally {
    await context.close();
    await cdp.detach();
  }
}

/** Returns the processor time of all threads of a process, in milliseconds. It is exact to the nanosecond; system ticks are 10 ms. */
function cpuMs(pid: number): number {
  let ns = 0;
  for (const thread of threadsOf(pid))
    ns += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]);
  return ns / 1e6;
}
