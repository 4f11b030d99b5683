// SPDX-License-Identifier: MIT OR Apache-2.0
// Strategies that stay on the calling thread.
import { type ActionName, type Argument, actionOf } from "./action.js";
import type { Strategy } from "./strategy.js";

const noop = () => {};

/** Runs one action after the other. Awaits an asynchronous action before it starts the next. */
const direct: Strategy = async (waits) => ({
  start: noop,
  close: noop,
  run: (name, args) => (waits === "async" ? runSequentially(name, args) : runSync(name, args)),
});

function runSync(name: ActionName, args: readonly Argument[]): number[] {
  const action = actionOf(name) as (argument: Argument) => number;
  const results: number[] = [];
  for (const argument of args) results.push(action(argument));
  return results;
}

async function runSequentially(name: ActionName, args: readonly Argument[]): Promise<number[]> {
  const action = actionOf(name);
  const results: number[] = [];
  for (const argument of args) results.push(await action(argument));
  return results;
}

/** Starts all actions at once. */
const promises: Strategy = async () => ({
  start: noop,
  close: noop,
  run: (name, args) => {
    const action = actionOf(name);
    return Promise.all(args.map(async (argument) => action(argument)));
  },
});

const rxjs: Strategy = async () => {
  const { defer, from, lastValueFrom, mergeMap, toArray } = await import("rxjs");
  return {
    start: noop,
    close: noop,
    run: async (name, args) => {
      const action = actionOf(name);
      const indexed = (argument: Argument, at: number) => defer(async () => [at, await action(argument)] as const);
      const pairs = await lastValueFrom(from(args).pipe(mergeMap(indexed), toArray()));
      // mergeMap emits the results in order of completion.
      const results = new Array<number>(args.length);
      for (const [at, result] of pairs) results[at] = result;
      return results;
    },
  };
};

export const onThreadStrategies: Record<string, Strategy> = { direct, promises, rxjs };
