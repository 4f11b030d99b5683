// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures this machine: Node in a process of its own, or the installed Chromium with the page that other devices open.
import { fork } from "node:child_process";
import { launchChromium } from "../browser/chromium.js";
import { machineFacts } from "../machine/facts.js";
import type { NodeMessage } from "./device/main.js";
import type { Amounts } from "./device/measure-device.js";
import { printable } from "./device-time.js";
import { PageEnded, type ServedPage } from "./page-server.js";
import { type Device, samplesOf } from "./ratio-file.js";

/** The device cannot be measured. The message says why, and what to do. */
export class CannotMeasureDevice extends Error {}

/** Measures Node in a new process, which runs the file `script`. Ends the process if `signal` aborts. */
export async function measureNode(script: string, amounts: Amounts, signal: AbortSignal): Promise<Device> {
  const { cpu, cores } = machineFacts();
  const child = fork(script, [JSON.stringify(amounts)], {
    execArgv: [],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const end = () => child.kill("SIGKILL");
  process.once("exit", end);
  signal.addEventListener("abort", end);
  try {
    const message = await new Promise<NodeMessage>((resolve, reject) => {
      child.once("message", (given) => resolve(given as NodeMessage));
      child.once("error", reject);
      child.once("exit", (code, by) =>
        reject(new CannotMeasureDevice(`the measuring process ended: ${by ?? `status ${code}`}`)),
      );
    });
    signal.throwIfAborted();
    if ("problem" in message) throw new CannotMeasureDevice(message.problem);
    const name = `Node ${process.versions.node.split(".")[0]}`;
    return {
      host: "node",
      name,
      agent: `Node ${process.versions.node}`,
      cores,
      cpu: printable(cpu),
      samples: samplesOf(message.samples),
    };
  } finally {
    signal.removeEventListener("abort", end);
    process.off("exit", end);
    end();
  }
}

/** Opens the served page in the installed Chromium and presses its button. Closes the browser when the result is there. */
export async function measureChromium(page: ServedPage, signal: AbortSignal): Promise<Device> {
  const { cpu } = machineFacts();
  const browser = await launchChromium({ handleSIGTERM: false }).catch((error: Error) => {
    throw new CannotMeasureDevice(error.message);
  });
  const end = () => void page.close("interrupted");
  signal.addEventListener("abort", end);
  try {
    signal.throwIfAborted();
    const tab = await browser.newPage();
    tab.once("crash", () => void page.close("the page crashed in Chromium"));
    await tab.goto(page.url);
    await tab.click("#start");
    const { agent, cores, samples } = await page.result;
    const name = `Chromium ${browser.version().split(".")[0]}`;
    return { host: "chromium", name, agent, cores, cpu: printable(cpu), samples };
  } catch (error) {
    if (error instanceof PageEnded) throw new CannotMeasureDevice(`Chromium was not measured: ${error.message}`);
    throw error;
  } finally {
    signal.removeEventListener("abort", end);
    await browser.close();
  }
}
