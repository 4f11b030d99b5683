// SPDX-License-Identifier: MIT OR Apache-2.0
// Firefox or WebKitGTK for one run. They have no trace: the meter in the page is all that is known about its stalls.
import { setTimeout as sleep } from "node:timers/promises";
import type { Driven, InputSource } from "../../../../scripts/browsers/engines.mjs";
import { type DrivenName, openWindow } from "../browser/open.js";
import { DocumentLog } from "./document-log.js";
import { BINDING, FLOOR, HANDLE_SOURCE } from "./message.js";
import { firstLine, type PageSession, type Settings } from "./session.js";
import { StepError } from "./steps.js";
import { CannotMeasure } from "./target.js";

/** How often the page is asked whether it answers, in milliseconds. WebKit's page hands out its messages then. */
const ASK_MS = 100;
const LOAD_POLL_MS = 20;

/** What the reader of every run must know. */
const UNSEEN =
  "has no CPU profile, no trace and no long animation frames for this, so only the machine is named as a cause: Chromium names the functions, too. Dialogs, errors and windows of the page are not counted";

/** The list of a page's messages that were not handed out yet. Only WebKit's page has it. */
const TOLD_SOURCE = `globalThis[Symbol.for("clearway.jank.told")]`;

const meterSource = (script: string, floorMs: number, send: string): string =>
  `globalThis.${BINDING}=${send};globalThis.${FLOOR}=${floorMs};${script}`;

/** The answers of dialogs that are closed at once. WebKit's driver would not end a command during which one opens. */
const NO_DIALOGS = "globalThis.alert=()=>{};globalThis.confirm=()=>false;globalThis.prompt=()=>null;";

/** Returns the script that starts the meter in a page of WebKit. It does nothing in a page that has it. */
export function preludeOf(script: string, floorMs: number): string {
  const told = `Object.defineProperty(globalThis,Symbol.for("clearway.jank.told"),{value:[]});`;
  return `if(${TOLD_SOURCE}===undefined){${NO_DIALOGS}${told}${meterSource(script, floorMs, `((told)=>(text)=>told.push(text))(${TOLD_SOURCE})`)}}`;
}

/** Starts a browser with an empty page. `script` runs in each document: in Firefox before the page's own scripts, in WebKit soon. */
export async function openDriven(
  name: DrivenName,
  { floorMs }: Pick<Settings, "floorMs">,
  script: string,
): Promise<PageSession> {
  let window: Driven;
  try {
    // The run reads its report from the browser after a Ctrl-C. WebKit's driver would start no script before a page has loaded.
    window = await openWindow(name, { detached: true, waitsForLoad: false });
  } catch (error) {
    throw new CannotMeasure((error as Error).message);
  }
  try {
    return await prepare(name, window, floorMs, script);
  } catch (error) {
    await window.close();
    throw error;
  }
}

async function prepare(name: DrivenName, window: Driven, floorMs: number, script: string): Promise<PageSession> {
  const log = new DocumentLog(() => performance.now());
  const prelude = preludeOf(script, floorMs);
  await window.addEarlyScript?.(`(send) => { ${meterSource(script, floorMs, "send")} }`, (text) => log.receive(text));
  // A driver takes one command at a time.
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <R>(command: () => Promise<R>): Promise<R> => {
    const done = last.then(command, command);
    last = done;
    return done;
  };
  const evaluate = async <R>(source: string, ...values: readonly unknown[]): Promise<R> => {
    try {
      // The driver calls the text of a function.
      return await inTurn(() => window.evaluate(source as never, ...(values as never[])));
    } catch (error) {
      throw new StepError(`the page refused the step: ${firstLine(error)}`);
    }
  };
  let answeredMs = Date.now();
  const ask = async (): Promise<void> => {
    const told = await evaluate<string[] | null>(`() => ${TOLD_SOURCE}?.splice(0) ?? null`);
    answeredMs = Date.now();
    for (const text of told ?? []) log.receive(text);
    if (told === null && name === "webkit")
      await evaluate(`() => { if (location.href !== "about:blank") { ${prelude} } }`);
  };
  let isOpen = true;
  const asking = async (): Promise<void> => {
    while (isOpen) {
      // A page that is just being replaced by another refuses.
      await ask().catch(() => {});
      await sleep(ASK_MS);
    }
  };
  const act = (...actions: InputSource[]): Promise<void> => inTurn(async () => void (await window.act(actions)));
  const pointer = (x: number, y: number): Record<string, unknown>[] => [
    { type: "pointerMove", x: Math.round(x), y: Math.round(y), duration: 0 },
    { type: "pointerDown", button: 0 },
    { type: "pointerUp", button: 0 },
  ];
  void asking();
  return {
    log,
    version: window.version,
    loaded: new Set(),
    get answeredMs() {
      return answeredMs;
    },
    evaluate,
    load: (url) =>
      name === "webkit" ? loadPolling(window, url, evaluate, () => isOpen) : loadWaiting(window, url, evaluate),
    async report() {
      const isThere = await evaluate<boolean>(
        `() => { ${HANDLE_SOURCE}?.report(); return ${HANDLE_SOURCE} !== undefined; }`,
      );
      await ask();
      return isThere;
    },
    click: (x, y) => act({ type: "pointer", id: "mouse", actions: pointer(x, y) }),
    type: (text) =>
      act({
        ...{ type: "key", id: "keys" },
        actions: [...text].flatMap((value) => [
          { type: "keyDown", value },
          { type: "keyUp", value },
        ]),
      }),
    async wheel(pixels) {
      const [x, y] = await evaluate<[number, number]>("() => [innerWidth >> 1, innerHeight >> 1]");
      await act({ ...{ type: "wheel", id: "wheel" }, actions: [{ type: "scroll", x, y, deltaX: 0, deltaY: pixels }] });
    },
    onEnd: (listener) => void window.exited.then(() => isOpen && listener("crashed", "the browser ended")),
    notes: () => [`${window.version} ${UNSEEN}`, ...lateNotes(name, log)],
    async close() {
      isOpen = false;
      await window.close();
    },
  };
}

/** A meter that starts later than this after the navigation may have missed a stall of the page's load. In milliseconds. */
const LATE_MS = 50;

function lateNotes(name: DrivenName, log: DocumentLog): string[] {
  const lateMs = Math.max(0, ...log.documents.map(({ beginMs }) => beginMs));
  if (name !== "webkit" || lateMs < LATE_MS) return [];
  return [
    `WebKit runs no script before those of a page from a server: the meter started up to ${lateMs.toFixed(0)} ms after a navigation, and earlier stalls are unknown`,
  ];
}

type Evaluate = PageSession["evaluate"];

async function loadWaiting(window: Driven, url: string, evaluate: Evaluate): Promise<string | undefined> {
  try {
    await window.goto(url);
  } catch (error) {
    // Firefox's answer ends with the name of the failure: NS_ERROR_NET_RESET.
    const why = firstLine(error).replace(/^.*(?=NS_ERROR_)/, "");
    return `${url} cannot be loaded: ${why}. Check that its server runs`;
  }
  const status = await evaluate<number | null>(
    `() => performance.getEntriesByType("navigation")[0]?.responseStatus ?? null`,
  );
  return status !== null && status >= 400 ? `${url} answered with status ${status}: check the address` : undefined;
}

/** WebKit does not say why a page cannot be loaded, nor its status. */
async function loadPolling(
  window: Driven,
  url: string,
  evaluate: Evaluate,
  isOpen: () => boolean,
): Promise<string | undefined> {
  const state = () =>
    evaluate<[number, string, string]>("() => [performance.timeOrigin, document.readyState, location.href]");
  const [before] = await state();
  await window.goto(url);
  while (isOpen()) {
    // The page that is being replaced refuses.
    const [origin, ready, href] = await state().catch(() => [before, "", ""] as const);
    if (origin !== before && ready === "complete")
      return href === "about:blank" ? `${url} cannot be loaded. Check that its server runs` : undefined;
    await sleep(LOAD_POLL_MS);
  }
  return undefined;
}
