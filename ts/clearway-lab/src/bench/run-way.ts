// SPDX-License-Identifier: MIT OR Apache-2.0
// Verifies and measures one way with one input, in a process of its own.
import { inspect } from "node:util";
import { nowMs } from "#lab-host";
import { metered } from "../isolate/metered.js";
import { type Measured, WARM_UP_CUT } from "../protocol/measured.js";
import { timeCalls } from "./calls.js";
import { type Definition, DefinitionError, kindOf, type ReadInput, type ReadWay } from "./definition.js";
import { isSame, snapshotOf } from "./same-result.js";
import { StepError, type Steps } from "./steps.js";

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

/** Opens a way, uses it and closes it. A teardown that fails is only noted, because the measurement is done. */
async function withWay<T>(
  { way, input, steps }: Chosen,
  notes: string[],
  use: (open: OpenWay) => Promise<T>,
): Promise<T> {
  const { setup, run, teardown } = way;
  const shared = input.isFresh ? undefined : input.make();
  const next = input.isFresh ? input.make : () => shared;
  const context = setup === undefined ? undefined : await steps.run("setup", setup);
  const call = (value: unknown) => run(value, context);
  try {
    return await use({ next, isFresh: input.isFresh, call });
  } finally {
    if (teardown !== undefined)
      await steps.runClosing("teardown", () => teardown(context)).catch((error: Error) => notes.push(error.message));
  }
}

export interface Verified {
  /** Time of a call, in milliseconds: the faster of the first two. The lab estimates the length of the run from it, and chooses the unit. */
  callMs: number;
}

/**
 * Calls a way and verifies its result: with `check`, or against the result of the way `reference`. Rejects with a StepError if the
 * result is refused or the way changes an input that later calls share.
 */
export async function verifyWay(chosen: Chosen, reference: ReadWay | undefined): Promise<Verified> {
  const { definition, input, steps } = chosen;
  return withWay(chosen, [], async ({ next, call }) => {
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
    else if (reference !== undefined) await compareWith(chosen, reference, result);
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

async function compareWith(chosen: Chosen, reference: ReadWay, result: unknown): Promise<void> {
  const expected = await withWay({ ...chosen, way: reference }, [], async ({ next, call }) => {
    const value = await chosen.steps.run("making the input", next);
    return chosen.steps.run(`the first call of ${reference.name}`, () => call(value));
  });
  if (isSame(result, expected)) return;
  throw new StepError(
    `its result is ${shown(result)}, but that of ${reference.name} is ${shown(expected)}; if both are right, add \`check: (result, input) => …\``,
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

/**
 * Measures a way: verifies a result, warms up, times calls for `timeMs`, makes one call under the meter, and verifies that call's result.
 * Rejects with a StepError that names the failed step.
 */
export async function measureWay(chosen: Chosen, timeMs: number, unit: "us" | "ms"): Promise<Measured> {
  const { definition, steps } = chosen;
  const notes: string[] = [];
  return withWay(chosen, notes, async ({ next, isFresh, call }) => {
    const once = async (name: string) => {
      const value = await steps.run("making the input", next);
      return steps.run(name, () => call(value));
    };
    const verify = async (result: unknown) => {
      if (definition.check !== undefined) await checkResult(chosen, result, await steps.run("making the input", next));
    };
    const first = await once("the first call");
    await verify(first);
    const timed = await steps.run("a call", () => timeCalls({ input: next, isFresh, call }, timeMs));
    const value = await steps.run("making the input", next);
    let last: unknown;
    const seen = await steps.run("a call", () =>
      metered(async () => {
        last = await call(value);
        return null;
      }),
    );
    await verify(last);
    if (definition.check === undefined && !isSame(first, last))
      throw new StepError(
        `its first result is ${shown(first)}, and its last ${shown(last)}; if both are right, add \`check: (result, input) => …\``,
      );
    if (timed.isCut && isFresh)
      notes.push("its inputs take so long to make that its calls were timed for less than --time");
    const ms = (length: number) => ({ unit: "ms" as const, value: length });
    return {
      ...seen,
      samples: { call: { unit, ns: timed.ns, batch: timed.batch } },
      values: {
        ...seen.values,
        warmUp: ms(timed.warmUpMs),
        ...(timed.isWarm ? {} : { [WARM_UP_CUT]: ms(timed.warmUpMs) }),
      },
      result: null,
      notes,
    };
  });
}
