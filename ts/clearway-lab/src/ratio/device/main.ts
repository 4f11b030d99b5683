// SPDX-License-Identifier: MIT OR Apache-2.0
// The entry of the one file that both devices run: a child process of the lab, or the page that the lab serves.
import {
  type Amounts,
  DeviceError,
  type DeviceHost,
  type DeviceSamples,
  measureDevice,
  type PageAnswer,
  type PageResult,
  type Progress,
} from "./measure-device.js";
import { WORKS, WORKS_VERSION } from "./works.js";

// The device is this machine's Node: a child process of the lab, which has nothing else to do.

/** What the child process sends. */
export type NodeMessage = { readonly samples: DeviceSamples } | { readonly problem: string };

async function runInNode(): Promise<void> {
  const amounts = JSON.parse(process.argv[2] ?? "") as Amounts;
  const host = {
    nowMs: () => performance.now(),
    pause: () => new Promise<void>((done) => setTimeout(done, 0)),
    ready: () => Promise.resolve(),
    wasHidden: () => false,
  };
  // Without its parent, nothing needs the measurement.
  process.once("disconnect", () => process.exit());
  const send = (message: NodeMessage) => process.send?.(message, undefined, undefined, () => process.disconnect());
  try {
    send({ samples: await measureDevice(amounts, host, WORKS_VERSION) });
  } catch (error) {
    if (!(error instanceof DeviceError)) throw error;
    send({ problem: error.message });
  }
}

// The device is a browser: the page that the lab serves. Measures when the button is pressed, and sends the result to the lab.

const element = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;

function runInPage(): void {
  const button = element<HTMLButtonElement>("start");
  button.disabled = false;
  button.addEventListener("click", () => {
    button.hidden = true;
    void measureAndSend();
  });
}

async function measureAndSend(): Promise<void> {
  const { nonce, amounts } = document.body.dataset as { nonce: string; amounts: string };
  const host = new PageHost();
  try {
    const samples = await measureDevice(JSON.parse(amounts) as Amounts, host, WORKS_VERSION, showProgress);
    showTimes(samples.pieces);
    await send({ nonce, agent: navigator.userAgent, cores: navigator.hardwareConcurrency ?? 0, samples });
  } catch (error) {
    say(error instanceof DeviceError ? `Not measured: ${error.message}.` : `Not measured: ${String(error)}`);
  } finally {
    host.close();
    element("progress").hidden = true;
  }
}

/** How often the result is sent before the user is asked. A phone's connection may fail once. */
const TRIES = 3;
/** The server ended a connection that it had waited for too long. */
const TIMED_OUT = 408;

/** Sends the result. If it does not arrive, offers to send it again. */
async function send(result: PageResult, tries = TRIES): Promise<void> {
  say("Sending the times to the lab…");
  let problem: string;
  try {
    const body = JSON.stringify(result);
    const response = await fetch("result", { method: "POST", headers: { "content-type": "application/json" }, body });
    if (response.ok) {
      const { ratio, ratioMin, ratioMax, here } = (await response.json()) as PageAnswer;
      const spread = `${short(ratioMin)} to ${short(ratioMax)}`;
      say(
        `Done: 5 ms on ${here} is ${short(5 * ratio)} ms here (${short(ratio)} times, ${spread}). You can close this page.`,
      );
      return;
    }
    if (response.status === TIMED_OUT && tries > 1) return send(result, tries - 1);
    problem = `the lab refused the result (status ${response.status}). Load this page again`;
  } catch {
    if (tries > 1) return send(result, tries - 1);
    problem = "the lab does not answer: it has ended, or this device has left its network. Look at the terminal";
  }
  say(`Measured, but ${problem}.`);
  const again = element<HTMLButtonElement>("start");
  again.textContent = "Send again";
  again.hidden = false;
  // Replaces the listener that measures.
  const fresh = again.cloneNode(true) as HTMLButtonElement;
  again.replaceWith(fresh);
  fresh.addEventListener("click", () => {
    fresh.hidden = true;
    void send(result);
  });
}

/** A visible page. Remembers whether it was in the background. */
class PageHost implements DeviceHost {
  #hidden = document.hidden;
  #resume: (() => void) | undefined;
  readonly #onChange = () => {
    if (document.hidden) this.#hidden = true;
    else this.#resume?.();
  };

  constructor() {
    document.addEventListener("visibilitychange", this.#onChange);
  }

  nowMs(): number {
    return performance.now();
  }

  pause(): Promise<void> {
    return new Promise((done) => setTimeout(done, 0));
  }

  async ready(): Promise<void> {
    if (!document.hidden) return;
    say("Waiting: this tab is in the background. The measurement goes on when you come back.");
    await new Promise<void>((resume) => {
      this.#resume = resume;
    });
  }

  wasHidden(): boolean {
    const was = this.#hidden || document.hidden;
    this.#hidden = false;
    return was;
  }

  close(): void {
    document.removeEventListener("visibilitychange", this.#onChange);
  }
}

function showProgress({ phase, done, planned, repeated }: Progress): void {
  const bar = element<HTMLProgressElement>("progress");
  bar.hidden = false;
  // The warm-up is the first half of the bar.
  bar.value = ((phase === "warm-up" ? 0 : 1) + done / planned) / 2;
  const again = repeated === 0 ? "" : ` Measured again after this tab was in the background: ${repeated} times.`;
  say(
    phase === "warm-up"
      ? `Warming up: ${WORKS[done]?.title ?? ""}.`
      : `Measuring: ${done} of ${planned} rounds.${again}`,
  );
}

function showTimes(pieces: readonly { name: string; callMs: readonly number[] }[]): void {
  const table = element("times");
  for (const { name, callMs } of pieces) {
    const row = document.createElement("tr");
    const [title, time] = [document.createElement("th"), document.createElement("td")];
    title.textContent = WORKS.find((work) => work.name === name)?.title ?? name;
    time.textContent = `${short([...callMs].sort((a, b) => a - b)[callMs.length >> 1] ?? 0)} ms`;
    row.append(title, time);
    table.append(row);
  }
  table.hidden = false;
}

function short(value: number): string {
  return String(Number(value.toPrecision(3)));
}

function say(text: string): void {
  element("status").textContent = text;
}

if (typeof document === "undefined") void runInNode();
else runInPage();
