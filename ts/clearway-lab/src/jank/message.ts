// SPDX-License-Identifier: MIT OR Apache-2.0
// The messages of a measured page, and those between `clearway jank` and the process of a measured script: a line of JSON each, over the
// descriptor CHANNEL_FD. A page's or script's own code shares a process with the meter and may send anything, so all of them are checked.
import type { Stall, StallReport } from "clearway/meter";
import type { FrameScript } from "./evidence.js";
import type { CpuProfile } from "./profile.js";

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

// A script.

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

// The checks.

type Fields = Record<string, unknown>;

const isObject = (value: unknown): value is Fields => typeof value === "object" && value !== null;
const numbers = (value: Fields, ...names: string[]): boolean => names.every((name) => Number.isFinite(value[name]));
const texts = (value: Fields, ...names: string[]): boolean => names.every((name) => typeof value[name] === "string");
const lists = (value: Fields, ...names: string[]): boolean => names.every((name) => Array.isArray(value[name]));

export function isStall(value: unknown): value is Stall {
  return (
    isObject(value) &&
    numbers(value, "startMs", "lengthMs", "errorMs", "machineMs", "gcMs") &&
    texts(value, "cause", "because") &&
    lists(value, "scripts", "stacks", "marks") &&
    (value["stacks"] as unknown[]).every(
      (stack) =>
        isObject(stack) &&
        lists(stack, "frames") &&
        (stack["frames"] as unknown[]).every((frame) => typeof frame === "string"),
    )
  );
}

export function isReport(value: unknown): value is StallReport {
  return (
    isObject(value) &&
    value["kind"] === "clearway-stalls" &&
    value["version"] === 1 &&
    numbers(value, "durationMs", "lagMeanMs") &&
    lists(value, "stalls", "sources") &&
    (value["stalls"] as unknown[]).every(isStall) &&
    (value["sources"] as unknown[]).every((source) => isObject(source) && texts(source, "name")) &&
    isObject(value["frames"]) &&
    numbers(value["frames"], "hz", "dropped")
  );
}

export function isFrameScript(value: unknown): value is FrameScript {
  return (
    isObject(value) &&
    numbers(value, "startMs", "endMs", "charPosition", "layoutMs", "pauseMs") &&
    texts(value, "url", "functionName", "invoker")
  );
}

/** Settles like `promise`, or with `undefined` after `msMax`, or if the promise rejects. The timer keeps no process alive. */
export async function bounded<T>(promise: Promise<T>, msMax: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), msMax);
  });
  try {
    return await Promise.race([promise.catch(() => undefined), late]);
  } finally {
    clearTimeout(timer);
  }
}
