// SPDX-License-Identifier: MIT OR Apache-2.0
// The messages between `clearway jank` and the process of a measured script: a line of JSON each, over the descriptor CHANNEL_FD.
import type { Stall, StallReport } from "clearway/meter";
import type { CpuProfile } from "./profile.js";

/** The descriptor of the channel in the measured process. A thread of its own uses it, so it works while the script blocks. */
export const CHANNEL_FD = 3;
/** The variable that tells the process to measure itself. It holds the id of the parent, so that a script's own children do not. */
export const PARENT_VARIABLE = "CLEARWAY_JANK_PARENT";
/** The variable that has the meter's floor, in milliseconds. */
export const FLOOR_VARIABLE = "CLEARWAY_JANK_FLOOR_MS";
/** The name of the object by which the script's thread is asked for its report, as a registered symbol. */
export const PROCESS_HANDLE = "clearway.jank.process";
/** What the parent sends to end the measurement. */
export const FINISH = "finish\n";

/** How often the script's thread shows that it answers, in milliseconds. */
export const ANSWER_EVERY_MS = 50;

/** A script's thread that does not answer at the end. Times count from the start of the run. */
export interface Silence {
  readonly answeredMs: number;
  readonly endMs: number;
}

export type ProcessMessage =
  /** `beginUs` is the start of the meter's run on the clock of V8's profiles, in microseconds. */
  | { readonly type: "begin"; readonly beginUs: number }
  | { readonly type: "stall"; readonly stall: Stall }
  /** The end. `report` is missing if the script's thread did not answer, `profile` if it could not be taken. */
  | {
      readonly type: "end";
      readonly report?: StallReport;
      readonly profile?: CpuProfile;
      readonly problem?: string;
      readonly silent?: Silence;
    };

/** What the script's thread and the profiler's thread send each other. */
export type ThreadMessage =
  | { readonly type: "profiling"; readonly problem?: string }
  | { readonly type: "begin"; readonly beginUs: number }
  | { readonly type: "stall"; readonly stall: Stall }
  | { readonly type: "exit"; readonly report: StallReport };
