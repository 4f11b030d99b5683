// SPDX-License-Identifier: MIT OR Apache-2.0
// Collects the messages of a page. A page that navigates has several documents, each with a clock and a meter of its own.
import type { Stall, StallReport } from "clearway/meter";
import type { FrameScript } from "./evidence.js";
import { isFrameScript, isReport, isStall, type PageMessage } from "./message.js";

export interface PageDocument {
  readonly id: string;
  readonly url: string;
  /** The start of the meter on the document's `performance.now()`. */
  readonly beginMs: number;
  /** The same moment, in milliseconds since the epoch. */
  readonly wallMs: number;
  /** The stalls so far. The report, if it came, has them too. */
  readonly stalls: readonly Stall[];
  /** Times count from `beginMs`. */
  readonly scripts: readonly FrameScript[];
  readonly report: StallReport | undefined;
  /** When the last message came, in milliseconds after the first one, on the listener's clock. */
  readonly heardMs: number;
}

interface Growing {
  id: string;
  url: string;
  beginMs: number;
  wallMs: number;
  stalls: Stall[];
  scripts: FrameScript[];
  report: StallReport | undefined;
  firstMs: number;
  heardMs: number;
}

/** The page may send anything: its code can find the binding before the tool hides it. Bounds what is kept. */
const DOCUMENTS_MAX = 1000;
const ENTRIES_MAX = 20_000;

export class DocumentLog {
  readonly #documents = new Map<string, Growing>();

  constructor(private readonly nowMs: () => number) {}

  get documents(): readonly PageDocument[] {
    return [...this.#documents.values()];
  }

  /** Takes a message as text. Ignores text that is not a message. */
  receive(text: string): void {
    let message: PageMessage;
    try {
      message = JSON.parse(text) as PageMessage;
    } catch {
      return;
    }
    if (typeof message !== "object" || message === null || typeof message.id !== "string") return;
    if (message.type === "begin") this.#begin(message);
    const document = this.#documents.get(message.id);
    if (document === undefined) return;
    document.heardMs = this.nowMs() - document.firstMs;
    if (message.type === "stall" && isStall(message.stall) && document.stalls.length < ENTRIES_MAX)
      document.stalls.push(message.stall);
    if (message.type === "frame" && Array.isArray(message.scripts)) addScripts(document, message.scripts);
    if (message.type === "report" && isReport(message.report)) document.report = message.report;
  }

  #begin({ id, url, beginMs, originMs }: Extract<PageMessage, { type: "begin" }>): void {
    if (this.#documents.size >= DOCUMENTS_MAX || this.#documents.has(id)) return;
    if (
      typeof url !== "string" ||
      !Number.isFinite(beginMs) ||
      !Number.isFinite(new Date(originMs + beginMs).valueOf())
    )
      return;
    this.#documents.set(id, {
      id,
      url,
      beginMs,
      wallMs: originMs + beginMs,
      stalls: [],
      scripts: [],
      report: undefined,
      firstMs: this.nowMs(),
      heardMs: 0,
    });
  }
}

/** Adds scripts with times that count from the start of the meter. */
function addScripts({ scripts, beginMs }: Growing, told: readonly unknown[]): void {
  for (const script of told) {
    if (scripts.length >= ENTRIES_MAX || !isFrameScript(script)) continue;
    scripts.push({ ...script, startMs: script.startMs - beginMs, endMs: script.endMs - beginMs });
  }
}
