// SPDX-License-Identifier: MIT OR Apache-2.0
// Says in one line what to do with a function.

import { frames, jankLine, ms } from "../statistics/stalls.js";
import type { FrameDrops } from "../timing/frame-drops.js";

export { jankLine, ms };

/** How long a structured clone of the arguments and of the result takes, in milliseconds: both its writing and its reading. */
export interface Copy {
  argumentsMs: number;
  resultMs: number;
}

/** The figures of both ways. `worker` is the reason if the function cannot run in a worker, or if that is open. */
export interface BothWays {
  direct: FrameDrops;
  worker: FrameDrops | { why: string; isOpen?: true };
  /** Absent if the result cannot be cloned. */
  copy?: Copy;
}

/** Figures of this machine that were converted to another device's time. */
export interface Converted {
  here: FrameDrops;
  ratio: number;
}

/** Returns the longest lag: `37.2 ms there (12 ms here x 3.1)` if it is another device's. */
export function lagText(lagMaxMs: number, converted?: Converted): string {
  if (converted === undefined) return ms(lagMaxMs);
  return `${ms(lagMaxMs)} there (${ms(converted.here.lagMaxMs)} here x ${Number(converted.ratio.toPrecision(3))})`;
}

/** Returns the advice: run the function in a worker, leave it, or why a worker does not help. `where` is the device of the figures. */
export function adviceLine({ direct, worker, copy }: BothWays, where: "here" | "there" = "here"): string {
  if (direct.dropped120 === 0)
    return `leave it: ${ms(direct.lagMaxMs)}, and no frame dropped at 60 or 120 Hz${where === "there" ? " there" : ""}.`;
  const hz = direct.dropped60 > 0 ? 60 : 120;
  const [here, there] =
    hz === 60 ? (["dropped60", direct.dropped60] as const) : (["dropped120", direct.dropped120] as const);
  const drops = `it drops ${frames(there)} at ${hz} Hz ${where}`;
  if ("why" in worker && worker.isOpen)
    return `${drops}. Whether a worker helps is open: ${worker.why}.${copy === undefined ? "" : ` ${copyLine(copy)}`}`;
  if ("why" in worker) return `${drops}, and it cannot run in a worker as it is: ${worker.why}.`;
  const left = worker[here];
  const isCopy = copy !== undefined && copy.argumentsMs + copy.resultMs >= worker.lagMaxMs / 2;
  if (left >= there)
    return `a worker does not help: ${drops}, and ${frames(left)} if a worker runs it. ${isCopy ? copyLine(copy) : "The copy of its arguments and result does not take that long: measure again on a quiet machine."}`;
  const rest = left === 0 ? "and none" : `and ${frames(left)}`;
  return `run it in a worker: ${drops}, ${rest} if a worker runs it (${ms(worker.lagMaxMs)} instead of ${ms(direct.lagMaxMs)}).${left > 0 && isCopy ? ` The rest is the copy. ${copyLine(copy)}` : ""}`;
}

/** Says what the copy takes, and the way out. */
function copyLine({ argumentsMs, resultMs }: Copy): string {
  return resultMs >= argumentsMs
    ? `Its result takes ${ms(resultMs)} to copy: return a table of records (docs/records.md), or slices as a stream (docs/recipes-streams.md#read-a-long-result-as-a-stream-and-stop-early).`
    : `Its arguments take ${ms(argumentsMs)} to copy: move buffers (docs/recipes.md#move-a-large-array-instead-of-copying-it), or pass a table of records (docs/records.md).`;
}
