// SPDX-License-Identifier: MIT OR Apache-2.0
// The messages from a measured page.
import type { Stall, StallReport } from "clearway/meter";
import type { FrameScript } from "./evidence.js";

/** The name of the function by which the page sends its messages. The page's own code does not see it. */
export const BINDING = "__clearwayJank";
/** The name of the variable that has the meter's floor. The page's own code does not see it. */
export const FLOOR = "__clearwayJankFloorMs";
/** The name of the object by which the page is asked for its report, as a registered symbol. */
export const HANDLE = "clearway.jank";

/** The source of an expression for that object. */
export const HANDLE_SOURCE = `globalThis[Symbol.for(${JSON.stringify(HANDLE)})]`;

/** Times are in milliseconds on the page's `performance.now()`, unless they are in a stall or report, which count from `beginMs`. */
export type PageMessage =
  | {
      readonly type: "begin";
      readonly id: string;
      readonly url: string;
      readonly beginMs: number;
      readonly originMs: number;
    }
  | { readonly type: "stall"; readonly id: string; readonly stall: Stall }
  | { readonly type: "frame"; readonly id: string; readonly scripts: readonly FrameScript[] }
  | { readonly type: "report"; readonly id: string; readonly report: StallReport };

/** What the page's handle offers. */
export interface PageHandle {
  readonly id: string;
  /** Sends the entries that the browser has queued, and the report of the document so far. */
  report(): void;
}
