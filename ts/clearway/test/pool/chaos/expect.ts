// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "clearway";
import type { Command, Plan, PlanOptions } from "./plan.js";
import type { Abort } from "./play.js";
import type { Seen } from "./source.js";
import type { Outcome } from "./watch.js";

// The allowed outcomes of a command in its plan. Each function returns a complaint, or undefined.

type Call = Extract<Command, { do: "call" }>;
type Stream = Extract<Command, { do: "stream" }>;
type TwoWay = Extract<Command, { do: "twoWay" }>;

/** Returns whether a call ends by itself, so that it needs no time limit. */
export function expectEnding(command: Command): boolean {
  if (command.do === "call") return !["hold", "deaf", "spin", "hotLoop"].includes(command.task);
  if (command.do === "stream") {
    if (command.task !== "stallsAfter" && command.task !== "finallyStalls") return true;
    return staysWithin(command, command.n);
  }
  if (command.do === "callback") return !hangs(command);
  if (command.do !== "twoWay") return true;
  const { task, source, n } = command;
  if (source !== "stuck" && source !== "endless") return true;
  if (task === "ignores") return true;
  if (task === "firstOf") return source === "endless" || n > 0;
  if (task === "countOf") return false;
  return staysWithin(command, source === "endless" ? Number.POSITIVE_INFINITY : n);
}

// Returns whether a callback that hangs is reached.
function hangs({ deeds, n }: Extract<Command, { do: "callback" }>): boolean {
  const failed = deeds.findIndex((each) => each === "throws" || each === "rejects" || each === "lies");
  const hung = deeds.indexOf("hangs");
  return hung >= 0 && hung < n && (failed < 0 || hung < failed);
}

// Returns whether the reader leaves before it requests more than `count` values.
function staysWithin({ read, after }: Stream | TwoWay, count: number): boolean {
  if (read === "return" || read === "never" || read === "overlap") return true;
  return read !== "fully" && read !== "slowly" && read !== "twice" && after <= count;
}

/** Returns the number of bytes of binary memory in a call's arguments. */
export function bytesOf({ task, n }: Call): number {
  if (task === "lengthOf") return n * 1000;
  if (task === "lengthOfMoved") return n * 100_000;
  return task === "swallow" ? n * 10 : 0;
}

/** Checks the outcome of a call with one result. */
export function expectOutcome(
  command: Call | TwoWay,
  outcome: Outcome,
  plan: Plan,
  cold: boolean,
  aborts: readonly Abort[],
): string | undefined {
  const { options } = command;
  if ("error" in outcome) {
    const may = errorsOf(command, plan);
    for (const each of command.do === "call" ? callErrors(command, cold) : inputErrors(command)) may.add(each);
    return judge(outcome.error, may, options, aborts);
  }
  const { ok } = outcome;
  if (command.do === "twoWay") {
    const { task, source, n } = command;
    if (task === "ignores") return ok === "ignored" ? undefined : `gave ${String(ok)}`;
    if (task === "firstOf") {
      const empty = n === 0 && source !== "endless";
      return ok === (empty ? "none" : "one") ? undefined : `gave ${String(ok)}`;
    }
    const whole = source === "finite" || source === "moved" || source === "badEnd";
    return whole && ok === n ? undefined : `counted ${String(ok)} of ${n} values of a source that is ${source}`;
  }
  const right = gives(command, ok);
  return right ? undefined : `gave ${String(ok)}`;
}

function gives({ task, n }: Call, value: unknown): boolean {
  switch (task) {
    case "ok":
    case "later":
    case "reports":
    case "replaces":
    case "native":
    case "exitLater":
    case "crashLater":
    case "rejectLater":
      return value === n;
    case "bytes":
    case "part":
      return value instanceof Uint8Array && value.byteLength === n * 1000;
    case "lengthOf":
      return value === n * 1000;
    case "lengthOfMoved":
      return value === n * 100_000;
    case "swallow":
      return value === undefined;
    case "hostileThenable":
      return value === 1;
    default:
      // All other tasks always fail.
      return false;
  }
}

/** Checks the values that a stream's reader saw. */
export function expectSeen(
  command: Stream | TwoWay,
  seen: Seen,
  plan: Plan,
  aborts: readonly Abort[],
): string | undefined {
  const { values, end, error } = seen;
  const count = command.do === "twoWay" && command.source === "endless" ? Number.POSITIVE_INFINITY : command.n;
  const wrong = values.findIndex((value, at) => !same(value, expectedAt(command, at)));
  if (wrong >= 0) return `value ${wrong} is ${String(values[wrong])}`;
  if (values.length > count) return `gave ${values.length} values of ${count}`;
  if (error !== undefined) {
    const may = errorsOf(command, plan);
    const own = command.do === "stream" ? streamErrors(command) : inputErrors(command);
    for (const each of own) may.add(each);
    if (command.read === "throw") may.add("ReaderError");
    const complaint = judge(error.reason, may, command.options, aborts);
    const failed = labelOf(error.reason);
    const early = own.includes(failed) && failed !== "would-copy" && command.task !== "finallyThrows";
    if (complaint === undefined && early && values.length < count && !leaves(command))
      return `failed with ${failed} after ${values.length} values of ${count}: some were lost`;
    return complaint;
  }
  if (end === undefined) return undefined;
  const whole =
    command.do === "stream"
      ? command.task === "numbers" || command.task === "syncNumbers"
      : command.source === "finite" || command.source === "moved" || command.source === "badEnd";
  if (!whole) return `came to an end, although it is ${command.do === "stream" ? command.task : command.source}`;
  if (values.length !== count) return `ended after ${values.length} values of ${count}`;
  return end.value === "end" ? undefined : `ended with ${String(end.value)}`;
}

// Returns whether the reader may drop values in flight.
const leaves = ({ read }: Stream | TwoWay): boolean => !["fully", "slowly", "twice"].includes(read);

function expectedAt(command: Stream | TwoWay, at: number): unknown {
  if (command.do === "stream") {
    return command.length === 0 || command.task === "badAfter" ? at : { length: command.length, fill: at };
  }
  if (command.source === "moved") return command.task === "echoes" ? { length: 500, fill: 0 } : Number.NaN;
  return command.task === "echoes" ? at : at * 2;
}

function same(value: unknown, expected: unknown): boolean {
  if (!(value instanceof Uint8Array)) return Object.is(value, expected);
  const { length, fill } = expected as { length?: number; fill?: number };
  return value.length === length && value.every((byte) => byte === (fill! & 0xff));
}

// Returns the errors that the pool may answer to any call, because of the other commands in the plan.
export function errorsOf(command: Extract<Command, { options: PlanOptions }>, plan: Plan): Set<string> {
  const may = new Set<string>();
  const { options } = command;
  const all = plan.commands;
  const some = (test: (each: Command) => boolean): boolean => all.some(test);
  if (options.signal !== undefined) may.add("aborted");
  if (options.timeoutMs !== undefined || !expectEnding(command)) may.add("timeout");
  if (options.deadlineMs !== undefined) may.add("deadline");
  if (options.progress === "throw" && command.task === "reports") may.add("ListenerError");
  if (plan.whenFull === "fail") may.add("queue-full");
  if (plan.whenFull.startsWith("drop")) may.add("dropped");
  if (plan.ending === "close" || some((each) => each.do === "close")) may.add("pool-closed");
  if (plan.ending === "terminate" || some((each) => each.do === "terminate")) may.add("pool-terminated");
  const tasks = new Set(all.map((each) => ("task" in each ? each.task : undefined)));
  if (tasks.has("exit") || tasks.has("exitLater") || tasks.has("exitsAfter")) may.add("worker-exited");
  if (tasks.has("crashLater") || tasks.has("rejectLater")) may.add("worker-crashed");
  if (tasks.has("memory")) may.add("out-of-memory");
  // A task that does not stop ends the other calls on its thread. With one call at a time there are none, except streams that wait for
  // their readers, which always share a thread.
  const shared =
    plan.concurrency > 1 || some((each) => each.do === "stream" || each.do === "twoWay" || each.do === "callback");
  if (shared && some((each) => "options" in each && (mayBeStopped(each) || "read" in each))) may.add("worker-crashed");
  return may;
}

function mayBeStopped(command: Command & { options: PlanOptions }): boolean {
  const { signal, timeoutMs, deadlineMs, progress } = command.options;
  return (
    signal !== undefined ||
    timeoutMs !== undefined ||
    deadlineMs !== undefined ||
    progress === "throw" ||
    !expectEnding(command)
  );
}

function callErrors({ task, n, options, misuse }: Call, cold: boolean): string[] {
  const may: string[] = [];
  if (cold && misuse === "return") may.push("cancelled");
  if (options.strict && (task === "lengthOf" || task === "swallow" || task === "part")) may.push("would-copy");
  if (task === "badArgument") may.push("not-cloneable");
  if (task === "badResult") may.push("not-cloneable", "Error");
  if (task === "throws" || task === "rejects") may.push("Error", "AggregateError", "RangeError", "string");
  if (task === "throwsValue")
    may.push(["undefined", "null", "number", "string", "string", "string", "object", "bigint"][n % 8]!);
  if (task === "unknown") may.push("unknown-task");
  return may;
}

function streamErrors({ task }: Stream): string[] {
  if (task === "throwsAfter" || task === "finallyThrows") return ["RangeError"];
  return task === "badAfter" ? ["not-cloneable"] : [];
}

function inputErrors({ source }: TwoWay): string[] {
  if (source === "throws") return ["SourceError"];
  return source === "bad" ? ["not-cloneable"] : [];
}

/** Returns a complaint about an error that is neither in `may` nor the reason of the command's own signal. */
export function judge(
  reason: unknown,
  may: ReadonlySet<string>,
  options: PlanOptions,
  aborts: readonly Abort[],
): string | undefined {
  const abort = aborts.find((each) => each.reason === reason);
  if (abort !== undefined && abort.which === options.signal) return undefined;
  const label = labelOf(reason);
  if (may.has(label)) return undefined;
  const more = reason instanceof Error ? `: ${reason.message}` : "";
  return `failed with ${label}${more}; only ${[...may].join(", ") || "success"} is expected`;
}

function labelOf(reason: unknown): string {
  if (reason instanceof ClearwayError) return reason.code;
  if (reason instanceof Error) return reason.name;
  return reason === null ? "null" : typeof reason;
}
