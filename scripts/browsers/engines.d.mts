// SPDX-License-Identifier: MIT OR Apache-2.0
export type Engine = "firefox" | "webkit";

/** A source of input with its actions, as in https://w3c.github.io/webdriver/#actions. */
export interface InputSource {
  type: "pointer" | "wheel" | "key";
  id: string;
  actions: Record<string, unknown>[];
}

/** A window of a browser. Dialogs are dismissed. */
export interface Driven {
  /** The browser and its version. */
  readonly version: string;
  /** Resolves when the page has loaded. */
  goto(url: string): Promise<unknown>;
  back(): Promise<unknown>;
  /** Runs a function in the page and returns its result. Arguments and result cross as JSON; the function sees no variables of its file. */
  evaluate<Args extends unknown[], Result>(act: (...args: Args) => Result, ...args: Args): Promise<Awaited<Result>>;
  /** Gives the page input, as a user does. */
  act(actions: InputSource[]): Promise<unknown>;
  /**
   * Calls a function in each document before the document's own scripts. `source` is its text; its argument sends a text to `receive`. Once a
   * window. Only Firefox has it.
   */
  addEarlyScript?(source: string, receive: (text: string) => void): Promise<void>;
  /** Resolves when the browser's process has ended. */
  readonly exited: Promise<unknown>;
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
  options?: {
    prefs?: Record<string, unknown>;
    sharedMemory?: boolean;
    /** Keeps Ctrl-C from the browser's processes. */
    detached?: boolean;
    waitsForLoad?: boolean;
  },
): Promise<Driven>;
