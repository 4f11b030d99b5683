// SPDX-License-Identifier: MIT OR Apache-2.0
// What a run needs of a browser. browser-session.ts has it for Chromium, driven-session.ts for Firefox and WebKit.
import type { DocumentLog } from "./document-log.js";
import type { Outcome } from "./record.js";
import type { TraceEvent } from "./trace.js";

/** A browser for one run: its own process with an empty profile, one page, and the messages of the meter in the page. */
export interface PageSession {
  /** The browser and its version. */
  readonly version: string;
  readonly log: DocumentLog;
  /** The addresses of the scripts and documents that the page loaded. */
  readonly loaded: ReadonlySet<string>;
  /** Goes to the page and waits for its load event. Resolves to what went wrong. */
  load(url: string): Promise<string | undefined>;
  /** Calls a function of this source in the page's top document. Rejects with `StepError` if it throws. */
  evaluate<R>(source: string, ...values: readonly unknown[]): Promise<R>;
  /** Asks the page for its report. Resolves to true when it has come, and to false if the page is just being replaced by another. */
  report(): Promise<boolean>;
  /** Input goes through the browser, as a user's does. */
  click(x: number, y: number): Promise<void>;
  type(text: string): Promise<void>;
  /** Turns the mouse wheel once, in the middle of the window. */
  wheel(pixels: number): Promise<void>;
  /** Calls the listener if the page or the browser ends by itself, with what happened. */
  onEnd(listener: (outcome: Extract<Outcome, "crashed" | "closed">, what: string) => void): void;
  /** Facts that a reader must know, after the run. */
  notes(): string[];
  /** Stops the code that runs in the page. Absent if the browser cannot. */
  terminate?(): Promise<unknown>;
  /** Ends the trace and returns its events: those that have come, if the browser does not answer. Absent if the browser has none. */
  trace?(): Promise<{ events: readonly TraceEvent[]; complete: boolean }>;
  /** When the page last answered, in milliseconds since the epoch. Absent if the trace says what a page does that does not answer. */
  readonly answeredMs?: number;
  close(): Promise<void>;
}

export interface Settings {
  /** Whether the page's Content Security Policy is ignored. */
  readonly bypassCsp: boolean;
  /** The meter's floor, in milliseconds. */
  readonly floorMs: number;
}

export function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split("\n")[0]!.slice(0, 200);
}
