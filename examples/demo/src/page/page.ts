// SPDX-License-Identifier: MIT OR Apache-2.0
import { measure } from "clearway/meter";
import { Comparison, showResult } from "./comparison.js";
import { FrameStrip, Road } from "./drawing.js";
import { onEachFrame } from "./frames.js";
import { type Job, type JobOnPage, jobs } from "./jobs.js";
import { framesText, ms, type Result, resultOf, stallText } from "./result.js";
import { hintAtScroll } from "./scroll-hint.js";
import { listSources } from "./sources.js";
import { type NamedWay, ways } from "./ways.js";

const find = <Kind extends Element>(selector: string) => document.querySelector<Kind>(selector)!;

const road = new Road(find("#road"));
const strip = new FrameStrip(find("#strip"), find("#frame-text"));
const frames = onEachFrame([({ lengthMs }) => road.draw(lengthMs), (frame) => strip.draw(frame)]);

const status = find<HTMLElement>("#status");
const comparison = new Comparison(find("table"), jobs);
const runs: { job: Job; way: NamedWay; run(): Promise<void> }[] = [];
let busy = false;

for (const job of jobs) addJob(job);
listSources(find("#sources"));
hintAtScroll(find(".table-wrap"), find("#scroll-hint"), "compare-title");
addPause();
sayIsolation();
find("#run-all").addEventListener("click", () => alone(runAll));

// Pause between two runs, in milliseconds. The browser can then collect the garbage of one run before the next run begins. If the browser
// exposes `gc`, the page also calls it.
const restMs = 700;
const rest = () => new Promise((resolve) => setTimeout(resolve, restMs));
const collect = () => (globalThis as { gc?: () => void }).gc?.();

async function runAll(): Promise<void> {
  for (const each of runs) {
    await each.run();
    await rest();
  }
  status.textContent = "All twelve have run.";
}

function addJob(job: Job): void {
  const card = find<HTMLTemplateElement>("#job-template").content.cloneNode(true) as DocumentFragment;
  const article = card.querySelector("article")!;
  article.id = job.id;
  article.querySelector("h2")!.textContent = job.title;
  article.querySelector(".what")!.textContent = job.what;
  const onPage = job.show(article.querySelector<HTMLElement>(".outcome")!);
  const group = article.querySelector(".ways")!;
  group.querySelector("legend")!.textContent = `${job.title}: do it by`;
  for (const way of ways) {
    const button = group.appendChild(document.createElement("button"));
    button.type = "button";
    button.dataset["way"] = way.id;
    button.innerHTML = '<span class="dot"></span>';
    button.append(way.name);
    const run = () => runOne(job, onPage, way, article);
    button.addEventListener("click", () => alone(run));
    runs.push({ job, way, run });
  }
  find("#jobs").append(card);
}

async function runOne(job: Job, onPage: JobOnPage, { id, name, way }: NamedWay, article: HTMLElement): Promise<void> {
  status.textContent = `${job.title}, ${name}: running …`;
  article.setAttribute("aria-busy", "true");
  article.dataset["running"] = id;
  try {
    await Promise.all([way.ready(), onPage.prepare()]);
    collect();
    frames.begin();
    const result = resultOf(job.id, id, await measure(() => onPage.run(way), { hz: 60, label: `${job.id}/${id}` }));
    showResult(article.querySelector<HTMLElement>(".result")!, result);
    comparison.add(result);
    status.textContent = `${job.title}, ${name}: ${inWords(result)}`;
  } catch (error) {
    status.textContent = `${job.title}, ${name} failed: ${error instanceof Error ? error.message : String(error)}`;
    console.error(error);
  } finally {
    article.removeAttribute("aria-busy");
    delete article.dataset["running"];
  }
}

const inWords = (result: Result) =>
  `longest stall ${stallText(result)}, ${framesText(result)} dropped frames, ${ms(result.runtimeMs)} in all.`;

/** Runs one function at a time. Sets `aria-disabled` on the buttons instead of `disabled`, so that they keep their focus. */
async function alone(run: () => Promise<void>): Promise<void> {
  if (busy) return;
  busy = true;
  const buttons = document.querySelectorAll(".ways button, #run-all");
  for (const button of buttons) button.setAttribute("aria-disabled", "true");
  await run();
  for (const button of buttons) button.removeAttribute("aria-disabled");
  busy = false;
}

function addPause(): void {
  const button = find<HTMLButtonElement>("#pause");
  const set = (paused: boolean) => {
    road.paused = paused;
    button.setAttribute("aria-pressed", String(paused));
    button.textContent = paused ? "Play" : "Pause";
  };
  button.addEventListener("click", () => set(!road.paused));
  set(matchMedia("(prefers-reduced-motion: reduce)").matches);
}

function sayIsolation(): void {
  const isolated = globalThis.crossOriginIsolated;
  find("#isolation").textContent = isolated ? "Cross-origin isolated" : "Not cross-origin isolated";
  find<HTMLAnchorElement>("#isolation-switch").href = isolated ? "/" : "/?isolated";
}
