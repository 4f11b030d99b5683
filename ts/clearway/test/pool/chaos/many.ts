// SPDX-License-Identifier: MIT OR Apache-2.0
import { callback } from "clearway/callback";
import { errorsOf, judge } from "./expect.js";
import type { Command, Plan } from "./plan.js";
import type { Abort } from "./play.js";
import type { Seen } from "./source.js";
import type { Outcome } from "./watch.js";

// Commands that make several calls, or that call back: maps, broadcasts and callbacks.

export type MapCommand = Extract<Command, { do: "map" }>;
export type BroadcastCommand = Extract<Command, { do: "broadcast" }>;
export type CallbackCommand = Extract<Command, { do: "callback" }>;

/** Returns the number of calls that a command makes. */
export function callsOf(command: Command, { size }: Plan): number {
  if (command.do === "map") return command.count;
  return command.do === "broadcast" ? size.max : 1;
}

/** Returns the callback of a command. `returned` receives every promise that the callback returns and that settles. */
export function callbackOf({ deeds, concurrency }: CallbackCommand, returned: (promise: Promise<unknown>) => void) {
  const left = [...deeds];
  const promised = (promise: Promise<unknown>): Promise<unknown> => {
    returned(promise);
    return promise;
  };
  return callback(
    (value: number): unknown => {
      switch (left.shift()) {
        case "answersLater":
          return promised(new Promise((resolve) => setTimeout(resolve, 0, value)));
        case "throws":
          throw new RangeError("thrown");
        case "rejects":
          return promised(Promise.reject(new RangeError("rejected")));
        case "lies":
          return () => value;
        case "hangs":
          return new Promise(() => {});
        default:
          return value;
      }
    },
    { concurrency },
  );
}

/** Checks the outcome of a callback's call. */
export function expectAsked(command: CallbackCommand, outcome: Outcome, plan: Plan, aborts: readonly Abort[]) {
  const fails = command.deeds.slice(0, command.n).find((each) => each !== "answers" && each !== "answersLater");
  if ("ok" in outcome)
    return fails === undefined && outcome.ok === command.n ? undefined : `gave ${String(outcome.ok)}`;
  const may = errorsOf(command, plan);
  if (fails === "throws" || fails === "rejects") may.add("RangeError");
  if (fails === "lies") may.add("not-cloneable");
  return judge(outcome.error, may, command.options, aborts);
}

/** Checks the outcome of a broadcast. */
export function expectBroadcast(command: BroadcastCommand, outcome: Outcome, plan: Plan, aborts: readonly Abort[]) {
  if ("error" in outcome) {
    const may = errorsOf(command, plan);
    // The error of one call, or of several.
    may.add("broadcast-failed");
    if (command.options.key !== undefined) may.add("invalid-argument");
    return judge(outcome.error, may, command.options, aborts);
  }
  const results = outcome.ok as unknown[];
  if (results.length > plan.size.max) return `gave ${results.length} results of ${plan.size.max} workers`;
  if (results.length > 0 && failsAlways(command)) return `gave ${results.length} results`;
  return results.every((each) => each === command.n) ? undefined : `gave ${String(results)}`;
}

const failsAlways = ({ task }: MapCommand | BroadcastCommand): boolean => task === "throws" || task === "unknown";

/** Checks the results of a mapping that were read. An awaited mapping ends with its array. */
export function expectMapped(command: MapCommand, seen: Seen, plan: Plan, aborts: readonly Abort[]) {
  const { values, end, error } = seen;
  const { count, n, task } = command;
  if (values.length > count) return `gave ${values.length} results of ${count} inputs`;
  if (values.length > 0 && failsAlways(command)) return `gave ${values.length} results`;
  if (values.some((each) => each !== n)) return `gave ${String(values)}`;
  if (error !== undefined) {
    const may = errorsOf(command, plan);
    if (task === "throws") for (const each of ["Error", "AggregateError", "RangeError", "string"]) may.add(each);
    if (task === "unknown") may.add("unknown-task");
    return judge(error.reason, may, command.options, aborts);
  }
  const whole = command.read === "await" || command.read === "fully" || command.read === "slowly";
  return whole && end !== undefined && values.length !== count ? `ended after ${values.length} of ${count}` : undefined;
}
