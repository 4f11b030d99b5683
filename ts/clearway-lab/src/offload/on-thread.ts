// SPDX-License-Identifier: MIT OR Apache-2.0
// Strategies that stay on the calling thread.
import { type ActionName, type Argument, actionOf } from "./action.js";
import type { Strategy } from "./strategy.js";

const nothing = () => {};

/** Runs one action after the other. Awaits an asynchronous action before it starts the next. */
const direct: Strategy = async (waits) => ({
  start: nothing,
  close: nothing,
  run: (name, given) => (waits === "async" ? inTurn(name, given) : inLine(name, given)),
});

function inLine(name: ActionName, given: readonly Argument[]): number[] {
  const action = actionOf(name) as (argument: Argument) => number;
  const results: number[] = [];
  for (const argument of given) results.push(action(argument));
  return results;
}

async function inTurn(name: ActionName, given: readonly Argument[]): Promise<number[]> {
  const action = actionOf(name);
  const results: number[] = [];
  for (const argument of given) results.push(await action(argument));
  return results;
}

/** Starts all actions at once. */
const promises: Strategy = async () => ({
  start: nothing,
  close: nothing,
  run: (name, given) => {
    const action = actionOf(name);
    return Promise.all(given.map(async (argument) => action(argument)));
  },
});

const rxjs: Strategy = async () => {
  const { defer, from, lastValueFrom, mergeMap, toArray } = await import("rxjs");
  return {
    start: nothing,
    close: nothing,
    run: async (name, given) => {
      const action = actionOf(name);
      const each = (argument: Argument, at: number) => defer(async () => [at, await action(argument)] as const);
      const pairs = await lastValueFrom(from(given).pipe(mergeMap(each), toArray()));
      // mergeMap emits the results in order of completion.
      const results = new Array<number>(given.length);
      for (const [at, result] of pairs) results[at] = result;
      return results;
    },
  };
};

export const onThread: Record<string, Strategy> = { direct, promises, rxjs };
