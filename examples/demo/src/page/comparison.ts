// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Job, JobId } from "./jobs.js";
import { againstClearway, framesText, hitchText, mostText, ms, type Result, stallText, totalText } from "./result.js";
import { type NamedWay, ways } from "./ways.js";

/** The table of the latest results. Each job has a group of rows, and each implementation ("way") has a row in it. */
export class Comparison {
  readonly #results = new Map<string, Result>();
  readonly #groups = new Map<JobId, HTMLTableSectionElement>();

  constructor(table: HTMLTableElement, jobs: readonly Job[]) {
    for (const job of jobs) {
      const group = table.appendChild(document.createElement("tbody"));
      const head = group.insertRow().appendChild(document.createElement("th"));
      head.colSpan = 6;
      head.scope = "rowgroup";
      head.appendChild(document.createElement("span")).textContent = job.title;
      for (const way of ways) group.appendChild(rowOf(job.id, way));
      this.#groups.set(job.id, group);
    }
  }

  add(result: Result): void {
    this.#results.set(key(result.job, result.way), result);
    const group = this.#groups.get(result.job)!;
    const ofJob = ways.flatMap((way) => this.#results.get(key(result.job, way.id)) ?? []);
    const longest = Math.max(...ofJob.map((each) => each.longestStallMs));
    const clearway = this.#results.get(key(result.job, "clearway"));
    for (const each of ofJob) {
      const row = group.querySelector<HTMLTableRowElement>(`[data-way="${each.way}"]`)!;
      row.dataset["runs"] = String(Number(row.dataset["runs"] ?? 0) + (each === result ? 1 : 0));
      this.#fill(row, each, longest, clearway);
    }
  }

  #fill(row: HTMLTableRowElement, result: Result, longest: number, clearway: Result | undefined): void {
    const against = againstClearway(result, clearway);
    put(row, "longestStallMs", result.longestStallMs, stallText(result));
    put(row, "ratio", against?.ratio, against ? ratioText(against) : result.way === "clearway" ? "1 ×" : "–");
    put(row, "droppedFrames", result.droppedFrames, framesText(result));
    put(row, "hitchMsPerSecond", result.hitchMsPerSecond, hitchText(result));
    put(row, "runtimeMs", result.runtimeMs, ms(result.runtimeMs));
    row.querySelector(".most")!.textContent = mostText(result);
    row.dataset["verdict"] = result.verdict;
    row.style.setProperty("--part", String(longest > 0 ? result.longestStallMs / longest : 0));
  }
}

const key = (job: JobId, way: string) => `${job}/${way}`;

function ratioText({ ratio, atLeast }: { ratio: number; atLeast: boolean }): string {
  const times = ratio >= 10 ? Math.round(ratio).toString() : ratio.toFixed(1);
  return atLeast && ratio > 1 ? `over ${times} ×` : `${times} ×`;
}

function rowOf(job: JobId, { id, name }: NamedWay): HTMLTableRowElement {
  const row = document.createElement("tr");
  row.dataset["job"] = job;
  row.dataset["way"] = id;
  const head = row.appendChild(document.createElement("th"));
  head.scope = "row";
  head.innerHTML = '<span class="dot"></span>';
  head.append(name);
  for (const metric of ["longestStallMs", "ratio", "droppedFrames", "hitchMsPerSecond", "runtimeMs"]) {
    const cell = row.insertCell();
    cell.dataset["metric"] = metric;
    cell.appendChild(document.createElement("span")).textContent = "–";
  }
  // The largest share of the total, below the total.
  row.lastElementChild!.appendChild(document.createElement("small")).className = "most";
  return row;
}

function put(row: HTMLTableRowElement, metric: string, value: number | undefined, text: string): void {
  const cell = row.querySelector<HTMLTableCellElement>(`[data-metric="${metric}"]`)!;
  cell.dataset["value"] = value === undefined ? "" : String(value);
  cell.firstElementChild!.textContent = text;
}

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
