// SPDX-License-Identifier: MIT OR Apache-2.0
// The steps that `clearway jank` performs on a page: their form on the command line, and how a page gets them.
import { setTimeout as sleep } from "node:timers/promises";
import { HANDLE_SOURCE } from "./message.js";
import type { PageSession } from "./session.js";

export type Step =
  | { readonly kind: "click"; readonly selector: string }
  | { readonly kind: "type"; readonly selector: string; readonly text: string }
  /** Positive pixels scroll down. */
  | { readonly kind: "scroll"; readonly pixels: number }
  | { readonly kind: "wait"; readonly ms: number }
  | { readonly kind: "appear"; readonly selector: string };

/** The longest accepted wait, in milliseconds: one hour. */
const WAIT_MS_MAX = 3_600_000;
const PIXELS_MAX = 1_000_000;

/** Each `parse...` function throws a `RangeError` that names the wrong value. */
export function parseClick(text: string): Step {
  return { kind: "click", selector: selectorOf(text) };
}

/** Parses `SELECTOR=TEXT`. An equals sign inside brackets, parentheses or quotes belongs to the selector: `input[name=q]=tea`. */
export function parseType(text: string): Step {
  const at = separatorAt(text);
  if (at <= 0) throw new RangeError(`a selector, "=" and a text are needed, e.g. --type "input[name=q]=green tea"`);
  return { kind: "type", selector: selectorOf(text.slice(0, at)), text: text.slice(at + 1) };
}

export function parseScroll(text: string): Step {
  const pixels = Number(text);
  if (text.trim() === "" || !Number.isInteger(pixels) || Math.abs(pixels) > PIXELS_MAX)
    throw new RangeError(
      `pixels are an integer from -${PIXELS_MAX} to ${PIXELS_MAX}; positive ones scroll down, e.g. --scroll 2000`,
    );
  return { kind: "scroll", pixels };
}

/** Parses a number of milliseconds, or the selector of an element that must appear. */
export function parseWait(text: string): Step {
  if (!/^\s*-?[\d.]/.test(text)) return { kind: "appear", selector: selectorOf(text) };
  const ms = Number(text);
  // `.name` is a selector; `.5` and `5.0.1` are not.
  if (Number.isNaN(ms) && /^\s*\.[^\d]/.test(text)) return { kind: "appear", selector: selectorOf(text) };
  if (!(ms >= 0 && ms <= WAIT_MS_MAX))
    throw new RangeError(`a wait is a selector, or milliseconds from 0 to ${WAIT_MS_MAX}, e.g. --wait 500`);
  return { kind: "wait", ms };
}

/** Returns a step as a reader knows it: `click #go`. */
export function stepText(step: Step): string {
  switch (step.kind) {
    case "click":
      return `click ${step.selector}`;
    case "type":
      return `type ${step.selector}`;
    case "scroll":
      return `scroll ${step.pixels}`;
    case "wait":
      return `wait ${step.ms} ms`;
    case "appear":
      return `wait for ${step.selector}`;
  }
}

function selectorOf(text: string): string {
  const selector = text.trim();
  if (selector === "") throw new RangeError("the CSS selector is empty; name an element, e.g. #send");
  return selector;
}

/** Returns the index of the first `=` outside brackets and quotes, or -1. */
function separatorAt(text: string): number {
  let depth = 0;
  let quote = "";
  for (let i = 0; i < text.length; i++) {
    const character = text[i]!;
    if (character === "\\") i++;
    else if (quote !== "") quote = character === quote ? "" : quote;
    else if (depth > 0 && (character === '"' || character === "'")) quote = character;
    else if (character === "[" || character === "(") depth++;
    else if (character === "]" || character === ")") depth--;
    else if (character === "=" && depth === 0) return i;
  }
  return -1;
}

// Performs the steps in a page. Input goes through the browser, as a user's does. The few lines that run in the page only find elements, so
// that they add no work of their own to what is measured.

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
