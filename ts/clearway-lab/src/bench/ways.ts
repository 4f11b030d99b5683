// SPDX-License-Identifier: MIT OR Apache-2.0
// Verifies one way with one input, and opens a way as a mechanism of an arm: each input is two kinds of work, its calls and their stalls.
import { inspect, isDeepStrictEqual } from "node:util";
import { measure } from "clearway/meter";
import { nowMs } from "#lab-host";
import type { OpenMechanism, Work } from "../arm/work.js";
import { callsOf, stallsOf } from "./comparisons.js";
import { type Definition, DefinitionError, kindOf, type ReadInput, type ReadWay } from "./definition.js";
import { describeThrown, StepError, type Steps } from "./steps.js";

/** Time of a first call below which a second one is timed, in milliseconds. */
const SECOND_CALL_MS_MAX = 50;

export interface Chosen {
  definition: Definition;
  way: ReadWay;
  input: ReadInput;
  steps: Steps;
}

/** Returns a way and an input by name. The lab passes names that it has read from the same file. */
export function choose(definition: Definition, wayName: string, inputName: string | undefined, steps: Steps): Chosen {
  const way = definition.ways.find(({ name }) => name === wayName);
  const input = definition.inputs.find(({ name }) => name === inputName);
  if (way === undefined || input === undefined)
    throw new DefinitionError(`the file has changed since the run began: way=${wayName} input=${inputName}`);
  return { definition, way, input, steps };
}

interface OpenWay {
  next: () => unknown;
  isFresh: boolean;
  call: (input: unknown) => unknown;
}

/** Opens a way, uses it and closes it. A teardown that fails is left alone, because the work is done. */
async function withWay<T>({ way, input, steps }: Chosen, use: (open: OpenWay) => Promise<T>): Promise<T> {
  const { setup, run, teardown } = way;
  const shared = input.isFresh ? undefined : input.make();
  const next = input.isFresh ? input.make : () => shared;
  const context = setup === undefined ? undefined : await steps.run("setup", setup);
  const call = (value: unknown) => run(value, context);
  try {
    return await use({ next, isFresh: input.isFresh, call });
  } finally {
    if (teardown !== undefined) await steps.runClosing("teardown", () => teardown(context)).catch(() => {});
  }
}

export interface Verified {
  /** Time of a call, in milliseconds: the faster of the first two. It chooses the length of a slice. */
  callMs: number;
}

/** A way whose result another one must have, and its name in messages: that of its file if it is of another file. */
export interface Reference extends Chosen {
  name: string;
}

/**
 * Calls a way and verifies its result: with `check`, or against the result of `reference`. Rejects with a StepError if the
 * result is refused or the way changes an input that later calls share.
 */
export async function verifyWay(chosen: Chosen, reference: Reference | undefined): Promise<Verified> {
  const { definition, input, steps } = chosen;
  return withWay(chosen, async ({ next, call }) => {
    const value = await steps.run("making the input", next);
    const before = input.isFresh ? undefined : snapshotOf(value);
    const begin = nowMs();
    const result = await steps.run("the first call", () => call(value));
    let callMs = nowMs() - begin;
    if (before !== undefined && !isUnchanged(before.value, value)) {
      const remedy = `make the input a function, \`${input.name ?? "input"}: () => …\`, which makes a new one for each call`;
      throw new StepError(`it changes its input, so its second call would get another input than its first: ${remedy}`);
    }
    if (definition.check !== undefined) await checkResult(chosen, result, await valueFor(chosen, value, next));
    else if (reference !== undefined) await compareWith(reference, result);
    if (callMs < SECOND_CALL_MS_MAX) {
      // The first call compiles its code. A call that takes long needs no second one.
      const again = await steps.run("making the input", next);
      const from = nowMs();
      await steps.run("the second call", () => call(again));
      callMs = Math.min(callMs, nowMs() - from);
    }
    return { callMs };
  });
}

function isUnchanged(before: unknown, value: unknown): boolean {
  const after = snapshotOf(value);
  return after !== undefined && isSame(before, after.value);
}

/** Returns the input for `check`. The call may have changed or moved its own input if each call gets a new one. */
async function valueFor({ input, steps }: Chosen, value: unknown, next: () => unknown): Promise<unknown> {
  return input.isFresh ? steps.run("making the input", next) : value;
}

async function checkResult({ definition, steps }: Chosen, result: unknown, value: unknown): Promise<void> {
  const said = await steps.run("check", () => definition.check?.(result, value));
  if (said === undefined || said === true) return;
  if (said === false) throw new StepError(`check refused its result: ${shown(result)}`);
  throw new StepError(`check returned ${kindOf(said)}: return true or false, or throw an error`);
}

async function compareWith(reference: Reference, result: unknown): Promise<void> {
  const { steps, name } = reference;
  const expected = await withWay(reference, async ({ next, call }) => {
    const value = await steps.run("making the input", next);
    return steps.run(`the first call of ${name}`, () => call(value));
  });
  if (isSame(result, expected)) return;
  throw new StepError(
    `its result is ${shown(result)}, but that of ${name} is ${shown(expected)}; if both are right, add \`check: (result, input) => …\``,
  );
}

function shown(value: unknown): string {
  const text = inspect(value, {
    depth: 1,
    maxArrayLength: 3,
    maxStringLength: 40,
    breakLength: Number.POSITIVE_INFINITY,
  });
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

/** Shortest stall that the meter records, in milliseconds. A call without a stall counts as one of this length. */
export const STALL_MS_MIN = 1;
/** Shortest timed run, in milliseconds. Shorter calls are timed together: reading the clock takes about 0.0001 ms. */
const RUN_MS_MIN = 0.05;
const CALLS_MAX = 1 << 20;

/** A way that has been opened, and a function that verifies the result of its last call with an input. */
export interface WayArm extends OpenMechanism {
  /** Rejects with a StepError if the result is refused, or differs from that of the first call where the scenario has no `check`. */
  verify(work: string): Promise<void>;
}

/** Opens a way. `teardown` runs when it is closed, also after a failed call. */
export async function openWay(definition: Definition, wayName: string, steps: Steps, clock = nowMs): Promise<WayArm> {
  const { way } = choose(definition, wayName, definition.inputs[0]!.name, steps);
  const context = way.setup === undefined ? undefined : await steps.run("setup", way.setup);
  const works: Record<string, Work> = {};
  const verifiers = new Map<string, () => Promise<void>>();
  for (const input of definition.inputs) {
    const shared = input.isFresh ? undefined : input.make();
    const results: { first?: { value: unknown }; last?: unknown } = {};
    const next = async (): Promise<unknown> => (input.isFresh ? steps.run("making the input", input.make) : shared);
    // A request has many runs, and each has the limit of time for itself.
    const begin = (): Promise<unknown> => {
      steps.restart();
      return next();
    };
    const call = async (value: unknown, times: number): Promise<void> => {
      for (let left = times; left > 0; left--) {
        const result = way.run(value, context);
        // Awaiting a plain value would add a microtask to each call.
        results.last = isThenable(result) ? await result : result;
      }
      results.first ??= { value: results.last };
    };
    works[callsOf(input.name)] = timedWork(begin, call, input.isFresh, clock);
    works[stallsOf(input.name)] = {
      calls: 1,
      async run(costsNs) {
        const value = await begin();
        const { report } = await measure(() => named(() => call(value, 1)), {
          ...{ hz: 60, floorMs: STALL_MS_MIN, stacks: false },
        });
        costsNs.push(Math.max(report.longestMs, STALL_MS_MIN) * 1e6);
      },
    };
    const verify = async (): Promise<void> => {
      const chosen: Chosen = { definition, way, input, steps };
      const { first, last } = results;
      if (definition.check !== undefined) await checkResult(chosen, last, await next());
      else if (first !== undefined && !isSame(first.value, last))
        throw new StepError(
          `its first result is ${shown(first.value)}, and its last ${shown(last)}; if both are right, add \`check: (result, input) => …\``,
        );
    };
    verifiers.set(callsOf(input.name), verify).set(stallsOf(input.name), verify);
  }
  return {
    works,
    verify: (work) => verifiers.get(work)!(),
    close: async () => {
      const { teardown } = way;
      if (teardown !== undefined) await steps.runClosing("teardown", () => teardown(context)).catch(() => {});
    },
  };
}

/** Times calls. Short ones are timed together, unless each needs an input of its own. */
function timedWork(
  next: () => Promise<unknown>,
  call: (value: unknown, times: number) => Promise<void>,
  isFresh: boolean,
  clock: () => number,
): Work {
  let calls = 1;
  return {
    get calls() {
      return calls;
    },
    async run(costsNs) {
      // A shared input may be a promise: every call gets its value, as the call that was verified.
      const value = await next();
      const times = calls;
      const from = clock();
      await named(() => call(value, times));
      const ms = clock() - from;
      if (ms > 0) costsNs.push((ms * 1e6) / times);
      if (ms < RUN_MS_MIN && !isFresh) calls = Math.min(CALLS_MAX, calls * 2);
    },
  };
}

async function named(call: () => Promise<void>): Promise<void> {
  try {
    await call();
  } catch (error) {
    throw new StepError(`a call threw ${describeThrown(error)}`, { cause: error });
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}

// Compares results of two ways. A result that has crossed to another thread has lost its classes, so both results are cloned first.

export type Snapshot = { value: unknown } | undefined;

/** Returns a copy of a value. Returns undefined if the value cannot be cloned: it contains a function, or memory that was moved away. */
export function snapshotOf(value: unknown): Snapshot {
  try {
    return { value: structuredClone(value) };
  } catch {
    return undefined;
  }
}

/** Returns whether two results are the same for an app. Compares values that cannot be cloned as they are. */
export function isSame(a: unknown, b: unknown): boolean {
  const [one, other] = [snapshotOf(a), snapshotOf(b)];
  return one === undefined || other === undefined ? isDeepStrictEqual(a, b) : isDeepStrictEqual(one.value, other.value);
}
