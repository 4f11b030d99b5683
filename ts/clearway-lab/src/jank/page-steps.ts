// SPDX-License-Identifier: MIT OR Apache-2.0
// Performs the steps in a page. Input goes through the browser, as a user's does. The few lines that run in the page only find elements, so
// that they add no work of their own to what is measured.
import { setTimeout as sleep } from "node:timers/promises";
import { HANDLE_SOURCE } from "./message.js";
import type { PageSession } from "./session.js";
import { type Step, stepText } from "./step.js";

/** A step that cannot be done. The message names the step and what to do. */
export class StepError extends Error {}

/** When a step began, on the clock of the document in which it began. */
export interface StepStart {
  readonly step: string;
  readonly documentId: string;
  readonly atMs: number;
}

/** How long a step waits for its element, in milliseconds. `--wait SELECTOR` waits until the limit of the whole run. */
const ELEMENT_MS_MAX = 10_000;
const POLL_MS = 50;
/** One turn of a wheel, and the time between two turns: a quick user's. */
const WHEEL_PIXELS = 120;
const WHEEL_EVERY_MS = 16;

interface FoundElement {
  readonly x: number;
  readonly y: number;
  readonly problem: string;
}

/** Returns the selectors that the browser does not accept. */
export async function invalidSelectors(session: PageSession, steps: readonly Step[]): Promise<string[]> {
  const selectors = steps.flatMap((step) => ("selector" in step ? [step.selector] : []));
  const source = `(all) => all.filter((one) => {
    try { document.createDocumentFragment().querySelector(one); return false; } catch { return true; }
  })`;
  return session.evaluate<string[]>(source, selectors);
}

export interface StepListener {
  began(start: StepStart): void;
  /** Called while a step waits for its element. */
  waiting(step: string, problem: string): void;
}

/** Performs the steps in order. Rejects with `StepError` if one cannot be done. */
export async function performSteps(
  session: PageSession,
  steps: readonly Step[],
  listener: StepListener,
): Promise<void> {
  for (const [index, step] of steps.entries()) {
    const name = stepText(step);
    const [documentId, atMs] = await session.evaluate<[string, number]>(
      `() => [${HANDLE_SOURCE}?.id ?? "", performance.now()]`,
    );
    listener.began({ step: name, documentId, atMs });
    const waiting = (problem: string): void => listener.waiting(name, problem);
    await perform(session, step, { name: `step ${index + 1} (${name})`, waiting });
  }
}

interface Current {
  readonly name: string;
  readonly waiting: (problem: string) => void;
}

async function perform(session: PageSession, step: Step, current: Current): Promise<void> {
  switch (step.kind) {
    case "wait":
      await sleep(step.ms);
      return;
    case "appear":
      await element(session, step.selector, current, Number.POSITIVE_INFINITY, false);
      return;
    case "scroll": {
      const turn = Math.sign(step.pixels) * WHEEL_PIXELS;
      for (let left = step.pixels; left !== 0; ) {
        const pixels = Math.abs(left) < WHEEL_PIXELS ? left : turn;
        await session.wheel(pixels);
        left -= pixels;
        await sleep(WHEEL_EVERY_MS);
      }
      return;
    }
    case "click": {
      const { x, y } = await element(session, step.selector, current, ELEMENT_MS_MAX, true);
      await session.click(x, y);
      return;
    }
    case "type": {
      const { x, y } = await element(session, step.selector, current, ELEMENT_MS_MAX, true);
      await session.click(x, y);
      await session.type(step.text);
    }
  }
}

/** Waits for an element. With `forInput`, scrolls it into view and waits until a click would reach it. */
async function element(
  session: PageSession,
  selector: string,
  { name, waiting }: Current,
  msMax: number,
  forInput: boolean,
): Promise<FoundElement> {
  const source = `(selector, forInput) => {
    const found = document.querySelector(selector);
    if (found === null) return { x: 0, y: 0, problem: "no element matches it" };
    if (!forInput) return { x: 0, y: 0, problem: "" };
    found.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    const box = found.getBoundingClientRect();
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    if (box.width === 0 || box.height === 0) return { x, y, problem: "the element has no size, so it is not visible" };
    const top = document.elementFromPoint(x, y);
    if (top === null) return { x, y, problem: "the element is outside of the window" };
    if (top !== found && !found.contains(top) && !(found.id !== "" && top.closest("label")?.htmlFor === found.id))
      return { x, y, problem: "another element covers it: <" + top.localName + (top.id === "" ? "" : " id=" + top.id) + ">" };
    return { x, y, problem: "" };
  }`;
  const until = performance.now() + msMax;
  for (;;) {
    const found = await session.evaluate<FoundElement>(source, selector, forInput);
    if (found.problem === "") return found;
    waiting(found.problem);
    if (performance.now() > until)
      throw new StepError(
        `${name}: ${found.problem} after ${ELEMENT_MS_MAX / 1000} s. Check the selector, or add --wait ${selector} before it`,
      );
    await sleep(POLL_MS);
  }
}
