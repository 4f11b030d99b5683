// SPDX-License-Identifier: MIT OR Apache-2.0
export type Engine = "firefox" | "webkit";

/** A window of a browser. */
export interface Driven {
  /** The browser and its version. */
  readonly version: string;
  /** Resolves when the page has loaded. */
  goto(url: string): Promise<unknown>;
  back(): Promise<unknown>;
  /** Runs a function in the page and returns its result. Arguments and result cross as JSON; the function sees no variables of its file. */
  evaluate<Args extends unknown[], Result>(act: (...args: Args) => Result, ...args: Args): Promise<Awaited<Result>>;
  /** Returns a picture of the page, as PNG. */
  screenshot(): Promise<Buffer>;
  /** Installs the extension in this folder. Only Firefox has it. */
  installExtension?(folder: string): Promise<unknown>;
  close(): Promise<void>;
}

export function has(engine: Engine): boolean;
export function missing(engine: Engine): string;
export function open(
  engine: Engine,
  options?: { prefs?: Record<string, unknown>; sharedMemory?: boolean },
): Promise<Driven>;
