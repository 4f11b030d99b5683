// SPDX-License-Identifier: MIT OR Apache-2.0
import { type Rules, wholeNumber } from "../checked.js";
import { hzDefault, meterRules } from "../options.js";
import type { Stall } from "../stall.js";

/** Options of every exporter of metrics. */
export interface MetricsOptions {
  /** Frame rate for hitches and dropped frames, in hertz. Default: 60 in a page. Elsewhere there are no frames, and no such series by default. */
  readonly hz?: number;
  /**
   * The maximum number of different mark labels per scope. Default: 100. The time of further labels counts for the label `_other`, so that
   * labels with unbounded values cannot fill the memory of an app or of a database.
   */
  readonly marksMax?: number;
}

/** The stalls of one thread, or of another part that is measured on its own. */
export interface StallScope {
  /**
   * Counts a stall. Pass this function as `onStall` to `watch()`, or call it with the stalls of a report. Needs no `this`, never throws,
   * and does nothing after `close()`.
   */
  readonly onStall: (stall: Stall) => void;
  /** Ends the scope. Further calls do nothing. */
  close(): void;
  /** Ends the scope at the end of a `using` block. */
  [Symbol.dispose](): void;
}

export const metricsRules: Rules = { hz: meterRules["hz"]!, marksMax: wholeNumber(0) };
export const metricsDefaults = { hz: hzDefault, marksMax: 100 } as const;

/** Whether this thread draws frames. */
export const hasFrames = (): boolean => "document" in globalThis;

/** The label that gets the time of all marks beyond `marksMax`. */
export const otherMark = "_other";

/** Returns an object that ends with `close` in a `using` block. Older browsers lack the symbol; compilers use this same fallback. */
export function disposable<T extends object>(scope: T, close: () => void): T & { [Symbol.dispose](): void } {
  const dispose: typeof Symbol.dispose = Symbol.dispose ?? Symbol.for("Symbol.dispose");
  return Object.assign(scope, { [dispose]: close }) as T & { [Symbol.dispose](): void };
}
