// SPDX-License-Identifier: MIT OR Apache-2.0

import { parent, refuseDetached } from "#host";
import { isThenable } from "../../error/checked.js";
import { ClearwayError, messageOf } from "../../error/clearway-error.js";
import { decodeError } from "../../error/wire.js";
import { clock, OwnPromise, structuredClone } from "../../globals.js";
import { isAsyncIterable } from "../../host/async-iterable.js";
import { bufferBytes, totalBufferBytes } from "../../host/structure.js";
import { CallContext } from "../../task/context.js";
import { definitionOfTask, isGenerator, type Placement, type TaskDefinition } from "../../task/task.js";
import { codedAs, Form, isPrimitive, isTable } from "../../transfer/crossing.js";
import { sharedCopies } from "../../transfer/find-memory.js";
import { emptySide, enter, type LedgerSide, merge } from "../../transfer/ledger.js";
import { addTransfer, prepareResult, prepareValue } from "../../transfer/move.js";
import { movedAway, movedBefore, notCloneable, wouldCopy } from "../../transfer/refusal.js";
import { revive } from "../../transfer/revive.js";
import { encodeThrown } from "../../transfer/thrown.js";
import type { Engine } from "../engine.js";
import type { CallSettings } from "../options.js";
import type { PoolTask } from "../schedule/scheduler.js";

/**
 * The calls of a pool that run on the calling thread, with the same effects as in a worker: arguments, results and errors are moved or
 * copied. The task module is loaded on this thread for the first of them. Until then, and if it cannot be loaded, all calls go to workers.
 */
export class InlineCalls {
  /** Why no call runs inline. Undefined unless the module could not be loaded. */
  why: string | undefined;
  readonly #engine: Engine;
  #tasks: ReadonlyMap<string, TaskDefinition> | undefined;
  #loading = false;
  /** One function for each open asynchronous run. The function fails the run. */
  readonly #open = new Set<(why: ClearwayError) => void>();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /**
   * Runs a call now, to its end or to its first `await`. Returns undefined if the call must go to a worker: nothing was run or moved then. If
   * its arguments cannot be sent, the worker's answer contains the error.
   */
  run(task: PoolTask, args: unknown[], options: CallSettings): Promise<unknown> | undefined {
    if (task.kind !== "function" || task.placement === "worker") return undefined;
    // Only a worker can be ended, and keeps the order of a key's calls. A progress listener must be called before the task ends.
    if (options.limited || options.key !== undefined || options.onProgress) return undefined;
    if (!this.#loading) void this.#load();
    const definition = this.#tasks?.get(task.name);
    const own = definition && this.#takeIn(args, options.strict);
    return own && this.#run(task, definition, own, options.strict);
  }

  /** Fails all open runs. */
  abandon(why: ClearwayError): void {
    for (const fail of [...this.#open]) fail(why);
  }

  async #load(): Promise<void> {
    this.#loading = true;
    try {
      this.#tasks = await tasksOf(this.#engine);
    } catch (reason) {
      this.why = messageOf(reason);
    }
  }

  #takeIn(args: unknown[], strict: boolean): unknown[] | undefined {
    if (args.every(isPrimitive)) return args;
    try {
      if (args.some(needsWorker)) return undefined;
      const side = emptySide();
      const shared = sharedCopies(args);
      const ready = args.map((each) => prepareValue(each, strict, side, shared));
      // The worker rejects a value that is nested too deeply. Both places then give the same result. Instances of transfer handlers must be
      // read on the other side.
      if (ready.some(({ deep, form }) => deep || form !== Form.plain)) return undefined;
      const transfer = ready.reduce((all, each) => addTransfer(all, each.transfer, side), [] as object[]);
      // Clones all arguments together, so that an object in two arguments stays one object.
      const own = structuredClone(
        ready.map(({ value }) => value),
        { transfer: transfer as Transferable[] },
      );
      merge(this.#engine.toWorkers, side);
      return own;
    } catch {
      return undefined;
    }
  }

  #run(task: PoolTask, definition: TaskDefinition, args: unknown[], strict: boolean): Promise<unknown> {
    task.calls++;
    task.inline++;
    const startMs = clock();
    const end = (count: "ok" | "failed"): void => {
      task[count]++;
      task.estimate.add((clock() - startMs) * 1000);
    };
    const cross = (value: unknown) => crossed(value, task.name, definition, strict, this.#engine.fromWorkers);
    try {
      const result = definition.wantsContext
        ? definition.run(new CallContext(silent), ...args)
        : definition.run(...args);
      if (isThenable(result)) return this.#later(task, result, cross, end);
      const answer = OwnPromise.resolve(cross(result));
      end("ok");
      return answer;
    } catch (reason) {
      end("failed");
      const error = crossedError(reason);
      task.countError(error);
      return OwnPromise.reject(error);
    }
  }

  #later(
    task: PoolTask,
    result: PromiseLike<unknown>,
    cross: (value: unknown) => unknown,
    count: (outcome: "ok" | "failed") => void,
  ): Promise<unknown> {
    const engine = this.#engine;
    // Foreign code may throw here: a getter for `constructor` of a promise. The run is not open yet.
    const settled = OwnPromise.resolve(result);
    engine.openCount++;
    return new OwnPromise((resolve, reject) => {
      const end = (outcome: "ok" | "failed", settle: () => void): void => {
        if (!this.#open.delete(abandon)) return;
        count(outcome);
        settle();
        engine.shut();
      };
      const abandon = (why: unknown): void =>
        end("failed", () => {
          task.countError(why);
          reject(why);
        });
      this.#open.add(abandon);
      // A foreign thenable may settle twice, or throw after it has settled.
      settled.then(
        (value) => {
          if (!this.#open.has(abandon)) return;
          try {
            const own = cross(value);
            end("ok", () => resolve(own));
          } catch (reason) {
            abandon(crossedError(reason));
          }
        },
        (reason) => abandon(crossedError(reason)),
      );
    });
  }
}

// An inline run needs neither cancellation nor progress. Calls that use one of them go to workers.
const silent = { id: 0, cancelCells: undefined, progress: () => {} };

// Returns whether an argument can only be passed to a worker. A stream needs credit from the other side. A table needs code that loads when
// the first table arrives.
function needsWorker(value: unknown): boolean {
  return value !== null && typeof value === "object" && (isAsyncIterable(value) || isTable(value));
}

// Returns a task's result as if a worker had sent it: moves the memory that can be moved, copies everything else, and enters both in the
// ledger. Throws the same errors as for a worker's result.
function crossed(
  value: unknown,
  task: string,
  { moveSearchLimit }: TaskDefinition,
  strict: boolean,
  side: LedgerSide,
): unknown {
  if (isPrimitive(value)) return value;
  if (isGenerator(value)) {
    throw new ClearwayError(
      "not-cloneable",
      "the task returned a generator: write the task itself as one (async function*)",
    );
  }
  const found = prepareResult(value, moveSearchLimit);
  const copy = found.copies[0];
  if (copy !== undefined && strict) throw wouldCopy(copy.reason, copy.bytes);
  const { transfer } = found;
  const what = `the result of ${task}()`;
  const cloned = (moved: readonly object[]): unknown =>
    revive(codedAs(found.form, structuredClone(found.value, { transfer: moved as Transferable[] })));
  try {
    transfer.forEach(refuseDetached);
    const own = cloned(transfer);
    enter(side, found);
    return own;
  } catch (reason) {
    // Some memory (WebAssembly's) cannot be moved, and only the attempt shows this. Such memory is copied, unless `strict` forbids it.
    const buffers = transfer.filter((each) => bufferBytes(each) !== undefined);
    if (movedBefore(buffers)) throw movedAway(what, reason);
    if (buffers.length === 0) throw notCloneable(what, reason);
    const bytes = totalBufferBytes(buffers);
    if (strict) throw wouldCopy("not-transferable", bytes);
    try {
      const own = cloned(transfer.filter((each) => bufferBytes(each) === undefined));
      const copies = [...found.copies, { reason: "not-transferable" as const, bytes }];
      enter(side, { movedBytes: found.movedBytes - bytes, sharedBytes: found.sharedBytes, copies });
      return own;
    } catch (again) {
      throw notCloneable(what, again);
    }
  }
}

// Returns a thrown value as if it had come from a worker: a copy of it, in the nearest class that can be sent between threads. Its stack
// already contains the caller's frames.
function crossedError(reason: unknown): unknown {
  return decodeError(encodeThrown(reason));
}

type Exports = { default?: unknown } | null | undefined;

// Imports the task module into this thread. Throws if it has no tasks.
async function tasksOf({ source, settings }: Engine): Promise<ReadonlyMap<string, TaskDefinition>> {
  // In a worker, the module's `expose()` would answer the caller of that worker.
  if (parent() !== undefined)
    throw new Error("the pool was made in a worker, and calls run inline on main threads only");
  if (!settings.module && typeof source === "function")
    throw new Error('the pool was made with a factory; give it `module: () => import("./x.tasks.js")` as well');
  // Loads in a separate microtask, because the app's function that loads the module may call this pool.
  await undefined;
  // Bundlers must not change this import, because it must load the same URL as the workers.
  const module = await (settings.module
    ? settings.module()
    : import(/* @vite-ignore */ /* webpackIgnore: true */ moduleUrl(source as URL | string)));
  const exported = (module as Exports)?.default;
  // `import()` gives all exports of a CommonJS module as the default one. A task with the name `default` is a function.
  const nested = (exported as Exports)?.default;
  const tasks = typeof nested === "object" ? nested : exported;
  if (tasks === null || typeof tasks !== "object") throw new Error("the module exports no tasks by default");
  return new Map(Object.entries(tasks).map(([name, fn]) => [name, definitionOfTask(name, fn)]));
}

/**
 * Returns the URL of a worker's module for `import()`. Resolves it in the same way as the host: relative to the page or to the working
 * directory. `import()` would resolve it relative to this file.
 */
export function moduleUrl(source: URL | string): string {
  // A single letter is a Windows drive, not a URL scheme.
  if (typeof source !== "string" || /^[a-z][a-z0-9+.-]+:/i.test(source)) return String(source);
  const { document, location, process } = globalThis as {
    document?: { baseURI: string };
    location?: { href: string };
    process?: { cwd(): string; platform: string };
  };
  const page = document?.baseURI ?? location?.href;
  if (page !== undefined || process === undefined) return new URL(source, page).href;
  // Node reads the text as a path. The characters `%`, `#` and `?` have no special meaning in a path, and Windows also separates by `\`.
  const inUrl = (path: string): string =>
    encodeURI(process.platform === "win32" ? path.replaceAll("\\", "/") : path).replace(/[#?]/g, encodeURIComponent);
  const folder = inUrl(process.cwd());
  const path = inUrl(source);
  if (/^[a-z]:/i.test(path)) return new URL(`file:///${path}`).href;
  return new URL(path, `file://${folder.startsWith("/") ? "" : "/"}${folder}/`).href;
}

// Work under about 5 ms may stay on the calling thread: a frame of 16.7 ms then still has time for its own work.
const inlineUsMax = 5_000;
// Number of measured runs that advice needs.
const samplesNeeded = 16;

/** The advice for one task, as plain data. All times are in microseconds. */
export interface TaskAdvice {
  task: string;
  /** The placement of the task's calls that have none of their own. */
  placement: Placement;
  calls: number;
  /** Number of measured runs, in workers and on the calling thread. */
  samples: number;
  /** Mean time of a run. Undefined without enough measurements. */
  runUs: number | undefined;
  /** Time of the longest recent run. Undefined without enough measurements. */
  longestUs: number | undefined;
  /** Whether the task may run on the calling thread: its runs take less than 5 ms. Undefined without enough measurements. */
  mayRunInline: boolean | undefined;
  /** The advice as a sentence. */
  advice: string;
}

/** The advice for all tasks of a pool, as plain data for `JSON.stringify`. */
export interface Advice {
  tasks: TaskAdvice[];
  /** Notes about the whole pool, such as the reason why nothing can run inline. */
  notes: string[];
  text: string;
}

/** Returns the advice for the tasks of a pool. `why` tells why nothing can run inline. A pure function. */
export function adviceOf(all: Iterable<PoolTask>, why: string | undefined): Advice {
  const tasks = [...all].filter(({ index }) => index >= 0).map(taskAdvice);
  const notes = why === undefined ? [] : [`Nothing runs inline: ${why}.`];
  return { tasks, notes, text: [...tasks.map(({ advice }) => advice), ...notes].join("\n") };
}

function taskAdvice({ name, kind, placement, calls, estimate }: PoolTask): TaskAdvice {
  const { samples } = estimate;
  const known = samples >= samplesNeeded;
  const runUs = known ? estimate.meanUs : undefined;
  const longestUs = known ? estimate.peakUs : undefined;
  const say = (advice: string, mayRunInline?: boolean): TaskAdvice => {
    return {
      task: name,
      placement: placement ?? "worker",
      calls,
      samples,
      runUs,
      longestUs,
      mayRunInline,
      advice: `${name}() ${advice}`,
    };
  };
  if (kind === "stream") return say("is a stream: it stays in a worker", false);
  if (runUs === undefined || longestUs === undefined) return say(`was measured ${samples} times: too little to say`);
  const takes = `takes ${shown(runUs)}${longestUs > runUs * 2 ? ` and up to ${shown(longestUs)}` : ""}`;
  if (longestUs > inlineUsMax)
    return say(`${takes}, more than 5 ms: ${placement === "inline" ? "move it to" : "keep it in"} a worker`, false);
  const short = `${takes}, less than 5 ms`;
  if (placement === "inline") return say(`${short}: it may stay on the calling thread`, true);
  if (placement === "worker")
    return say(`${short}, but it holds a resource, needs the setup, or says that it belongs in a worker`, false);
  return say(`${short}: it may run on the calling thread, with placement: "inline"`, true);
}

function shown(us: number): string {
  if (us < 10) return `${us.toFixed(1)} us`;
  return us < 1000 ? `${Math.round(us)} us` : `${(us / 1000).toFixed(us < 10_000 ? 1 : 0)} ms`;
}
