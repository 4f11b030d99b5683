// SPDX-License-Identifier: MIT OR Apache-2.0
// A function of a user's module as a scenario with two ways: called directly, and in a worker of Clearway's pool.
import { pool } from "clearway";
import { type Definition, DefinitionError, kindOf } from "./definition.js";
import { orMeant } from "./nearest-name.js";
import { describeThrown, StepError, type Steps } from "./steps.js";
import { isSame } from "./ways.js";

type Call = (...args: unknown[]) => unknown;

/**
 * Returns the scenario of a function. Each call gets new arguments, because the function may change them. `taskUrl` is the compiled text of
 * `taskModuleOf`. Throws a DefinitionError that names the nearest function if there is no such function.
 */
export async function functionDefinition(
  module: Record<string, unknown>,
  name: string,
  taskUrl: string,
): Promise<Definition> {
  const { makeArguments } = (await import(taskUrl)) as { makeArguments: () => unknown[] };
  const call = findFunction(module, name);
  const isExport = Object.hasOwn(module, name);
  const direct = isExport ? call : withHint(call);
  return {
    inputs: [{ name: undefined, make: makeArguments, isFresh: true }],
    // The worker's result is compared once, because the function may depend on time or chance.
    check: () => true,
    ways: [
      { name: "direct", run: (args) => direct(...(args as unknown[])) },
      {
        name: "worker",
        setup: () => new WorkerCalls(taskUrl, [isExport ? "own.call" : `file.${name}`, "call"]),
        run: (args, calls) => (calls as WorkerCalls).call(args as unknown[]),
        teardown: (calls) => (calls as WorkerCalls).close(),
      },
    ],
  };
}

/** A task of the default export may be one with a context, which only a worker makes. */
function withHint(call: Call): Call {
  return (...args) => {
    try {
      return call(...args);
    } catch (error) {
      throw new StepError(
        `the function threw ${describeThrown(error)}. If task() made it, measure the function that it calls, without the context`,
      );
    }
  };
}

/** A pool of one worker. Its task has the first of `names` that exists: which one it is depends on what the file exposes. */
class WorkerCalls {
  readonly #pool;
  readonly #names: string[];

  constructor(taskUrl: string, names: string[]) {
    this.#pool = pool<Record<string, Call>>(new URL(taskUrl), { size: 1, name: "measure" });
    this.#names = names;
  }

  call(args: unknown[]): PromiseLike<unknown> {
    const called = (this.#pool.call as Record<string, (...args: unknown[]) => PromiseLike<unknown>>)[this.#names[0]!]!;
    if (this.#names.length === 1) return called(...args);
    return called(...args).then(
      (result) => {
        this.#names.length = 1;
        return result;
      },
      (error: unknown) => {
        if ((error as { code?: unknown }).code !== "unknown-task") throw error;
        this.#names.shift();
        return this.call(args);
      },
    );
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}

/** Throws a DefinitionError that names the nearest function if there is no such function. */
export function findFunction(module: Record<string, unknown>, name: string): Call {
  const exposed = isObject(module["default"]) ? module["default"] : {};
  const value = Object.hasOwn(module, name) ? module[name] : Object.hasOwn(exposed, name) ? exposed[name] : undefined;
  if (typeof value === "function") return value as Call;
  if (value !== undefined) throw new DefinitionError(`${name} is ${kindOf(value)}, not a function`);
  const names = [...new Set([...functionsOf(module), ...functionsOf(exposed)])];
  const list =
    names.length === 0 ? "it exports no function" : `its functions: ${names.map((each) => `#${each}`).join(", ")}`;
  throw new DefinitionError(`it has no export "${name}"${orMeant(name, names)} (${list})`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function functionsOf(value: Record<string, unknown>): string[] {
  return Object.keys(value).filter((name) => typeof value[name] === "function");
}

/** What crosses between the threads in a call, and whether the worker returns what the direct call does. */
export interface Crossing {
  isResultDifferent: boolean;
  /** How long a structured clone takes, its writing and its reading, in milliseconds. */
  argumentsMs: number;
  resultMs: number;
}

/** Calls a function once each way. Rejects with a StepError if a call fails, and if its result cannot be cloned. */
export async function crossingOf({ ways, inputs }: Definition, steps: Steps): Promise<Crossing> {
  const results: unknown[] = [];
  const args = await inputs[0]!.make();
  const argumentsMs = cloneMs(args);
  for (const { setup, run, teardown } of ways) {
    const context = await setup?.();
    results.push(await steps.run("a call", () => run(structuredClone(args), context)));
    await teardown?.(context);
  }
  return { argumentsMs, resultMs: cloneMs(results[0]), isResultDifferent: !isSame(results[0], results[1]) };
}

function cloneMs(value: unknown): number {
  const from = performance.now();
  structuredClone(value);
  return performance.now() - from;
}
