// SPDX-License-Identifier: MIT OR Apache-2.0
// The steps that `clearway jank` performs on a page, and their form on the command line.

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
