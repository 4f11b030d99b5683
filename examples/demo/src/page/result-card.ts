// SPDX-License-Identifier: MIT OR Apache-2.0
import { framesText, hitchText, ms, type Result, stallText, totalText } from "./result.js";
import { ways } from "./ways.js";

/** Fills a job's card with its latest result. */
export function showResult(card: HTMLElement, result: Result): void {
  card.hidden = false;
  card.dataset["way"] = result.way;
  card.dataset["verdict"] = result.verdict;
  set(card, ".way-name", ways.find((way) => way.id === result.way)?.name ?? result.way);
  set(card, ".verdict", verdicts[result.verdict]);
  set(card, "[data-metric=longestStallMs]", stallText(result));
  set(card, "[data-metric=droppedFrames]", framesText(result));
  set(card, "[data-metric=hitchMsPerSecond]", hitchText(result));
  set(card, "[data-metric=runtimeMs]", ms(result.runtimeMs));
  set(card, ".cause", result.cause);
  set(card, ".total", totalText(result));
}

const verdicts = { good: "smooth", warning: "uneven", critical: "stutters" };

function set(card: HTMLElement, selector: string, text: string): void {
  const element = card.querySelector(selector);
  if (element) element.textContent = text;
}
