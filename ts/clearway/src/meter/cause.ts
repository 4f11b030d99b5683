// SPDX-License-Identifier: MIT OR Apache-2.0
import type { MarkShare, ScriptShare, StackSample, StallCause } from "./report.js";

/** The evidence about one stall: the reports that can explain it. */
export interface Evidence {
  readonly lengthMs: number;
  readonly machineMs: number;
  /** Whether the run queue shows at least as long a delay as the idle watcher. If so, `machineMs` is this thread's own wait for a core. */
  readonly queued?: boolean;
  readonly unwokenMs: number;
  readonly gcMs: number;
  /**
   * The name of the measured function, if it covers at least half of the stall. The function ran without a return to the event loop.
   */
  readonly call?: string | undefined;
  readonly scripts: readonly ScriptShare[];
  /** The time in the stall that all scripts together cover. */
  readonly scriptsMs: number;
  readonly stacks: readonly StackSample[];
  readonly marks: readonly MarkShare[];
  /** The reason why no idle watcher runs, or `undefined` if one runs. */
  readonly noWatcher?: string | undefined;
  /** Whether this host reports garbage collections. */
  readonly gcSeen: boolean;
}

const ms = (value: number): string => `${value.toFixed(1)} ms`;

/**
 * Returns the cause of a stall and the reason for this verdict. The cause may be `unknown`.
 *
 * A cause must account for half of the stall. The function checks the machine first, because a thread that does not run cannot block.
 * Then it checks the garbage collector, and then the app.
 */
export function causeOf(evidence: Evidence): { cause: StallCause; because: string } {
  const { lengthMs, machineMs, queued, unwokenMs, gcMs, call, scripts, scriptsMs, stacks, marks } = evidence;
  if (unwokenMs >= lengthMs / 2)
    return { cause: "machine", because: `the thread had nothing to do and was woken ${ms(unwokenMs)} late` };
  if (machineMs >= lengthMs / 2)
    return {
      cause: "machine",
      because: `${queued ? "the thread was ready, and not run" : "an idle watcher thread was held up too"}, for ${ms(machineMs)} of it`,
    };
  if (gcMs >= lengthMs / 2) return { cause: "gc", because: `garbage collection took ${ms(gcMs)} of it` };
  if (call !== undefined) return { cause: "app", because: `${call} ran without giving the thread back` };
  const script = scripts[0];
  if (script && scriptsMs >= lengthMs / 2)
    return { cause: "app", because: `${scriptName(script)} ran for ${ms(script.durationMs)}` };
  const stack = stacks[0];
  if (stack?.frames[0]) return { cause: "app", because: `it was seen in ${stack.frames[0]}` };
  const mark = marks.find((share) => share.overlapMs >= lengthMs / 2);
  if (mark) return { cause: "app", because: `it fell into the mark "${mark.label}"` };
  if (evidence.noWatcher !== undefined)
    return { cause: "unknown", because: `no idle watcher to tell the machine from the app: ${evidence.noWatcher}` };
  if (evidence.gcSeen)
    return { cause: "app", because: "the thread was busy, and neither the machine nor garbage collection held it" };
  return {
    cause: "unknown",
    because: "the thread was busy; this host names no script for it and shows no collections",
  };
}

function scriptName(script: ScriptShare): string {
  const place = script.url === "" ? "" : ` (${script.url})`;
  return `${script.functionName || script.invoker || "a script"}${place}`;
}

/**
 * Returns the app's frames of an error's `stack`, innermost first. Omits the probe's own frames, anonymous built-ins and Node's internals.
 */
export function appFrames(stack: string): string[] {
  return stack
    .split("\n")
    .slice(1)
    .map((line) => line.trim().replace(/^at /, ""))
    .filter((frame) => frame !== "" && !/(^|\()(<anonymous>|node:)/.test(frame));
}

/** Counts equal stacks and returns each stack once, most frequent first. */
export function gatherStacks(samples: readonly (readonly string[])[]): StackSample[] {
  const byText = new Map<string, { frames: readonly string[]; seen: number }>();
  for (const frames of samples) {
    const text = frames.join("\n");
    const known = byText.get(text);
    if (known) known.seen++;
    else byText.set(text, { frames, seen: 1 });
  }
  return [...byText.values()].sort((a, b) => b.seen - a.seen);
}
