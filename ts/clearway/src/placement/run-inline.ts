// SPDX-License-Identifier: MIT OR Apache-2.0
import { refuseDetached } from "#host";
import { ClearwayError } from "../error/clearway-error.js";
import { decodeError, encodeError } from "../error/wire.js";
import { isBuffer } from "../host/tag.js";
import { CallContext } from "../task/context.js";
import { isGenerator, type TaskDefinition } from "../task/task.js";
import { emptySide, enter, type LedgerSide, merge } from "../transfer/ledger.js";
import { prepareValue } from "../transfer/prepare-argument.js";
import { makeReady } from "../transfer/prepare-result.js";
import { movedAway, movedBefore, notCloneable, wouldCopy } from "../transfer/refusal.js";
import { isTable, revive } from "../transfer/revive.js";
import type { PlacedTask, PlacerOwner } from "./owner.js";

// Structured clone copies deeper values, because recursion must not overflow the stack.
const depthMax = 16;
// Longest array that is searched for named properties. Arrays with named properties, such as a match of a regular expression, are small,
// and searching large ones would be too slow.
const namedUpTo = 16;

/**
 * Returns a result as if it had crossed: moves what can move, copies the rest, and enters both in the ledger. Throws the errors of a
 * worker's result, with the name of the task: `not-cloneable`, `would-copy`.
 */
export function cross(
  value: unknown,
  task: string,
  definition: TaskDefinition,
  strict: boolean,
  side: LedgerSide,
): unknown {
  const plain = copyPlain(value);
  if (plain !== notPlain) return plain;
  if (isGenerator(value)) {
    throw new ClearwayError(
      "not-cloneable",
      "the task returned a generator: write the task itself as one (async function*), so that its callers get a stream",
    );
  }
  const found = makeReady(value, definition.moveSearchLimit);
  const copy = found.copies[0];
  if (copy !== undefined && strict) throw wouldCopy(copy.reason, copy.bytes);
  const crossed = clone(found.value, found.transfer, `the result of ${task}()`, strict);
  enter(side, crossed.movedBytes < 0 ? refused(found, -crossed.movedBytes) : found);
  return revive(crossed.value);
}

// Only the attempt to move shows that memory cannot move (WebAssembly's). Such memory is copied, unless `strict` forbids it.
function clone(
  value: unknown,
  transfer: readonly object[],
  what: string,
  strict: boolean,
): { value: unknown; movedBytes: number } {
  try {
    transfer.forEach(refuseDetached);
    return { value: structuredClone(value, { transfer: transfer as Transferable[] }), movedBytes: 0 };
  } catch (reason) {
    const buffers = transfer.filter(isBuffer);
    const bytes = buffers.reduce((sum, buffer) => sum + buffer.byteLength, 0);
    if (movedBefore(buffers)) throw movedAway(what, reason);
    if (buffers.length === 0) throw notCloneable(what, reason);
    if (strict) throw wouldCopy("not-transferable", bytes);
    const rest = transfer.filter((each) => !isBuffer(each));
    try {
      return { value: structuredClone(value, { transfer: rest as Transferable[] }), movedBytes: -bytes };
    } catch (again) {
      throw notCloneable(what, again);
    }
  }
}

function refused(found: Parameters<typeof enter>[1], bytes: number): Parameters<typeof enter>[1] {
  return {
    movedBytes: found.movedBytes - bytes,
    sharedBytes: found.sharedBytes,
    copies: [...found.copies, { reason: "not-transferable", bytes }],
  };
}

/**
 * Returns a thrown value as if it had come from a worker: a copy, of the nearest class that can cross. Keeps the native stack, which has
 * the caller's frames already.
 */
export function crossError(reason: unknown): unknown {
  return decodeError(encodeError(reason));
}

/** Result of {@link copyPlain} for a value that structured clone must copy. */
export const notPlain = Symbol("not plain");

/**
 * Copies a plain value as structured clone does, but 5 to 30 times faster: primitives, and nested arrays and plain objects of them. An
 * object that occurs twice stays one object. Returns {@link notPlain} for all other values. One difference: named properties of an array
 * with more than 16 elements are lost.
 */
export function copyPlain(value: unknown): unknown {
  return isPrimitive(value) ? value : copy(value as object, undefined, 0);
}

function isPrimitive(value: unknown): boolean {
  return value === null || (typeof value !== "object" && typeof value !== "function" && typeof value !== "symbol");
}

function copy(value: object, seen: Map<object, unknown> | undefined, depth: number): unknown {
  if (typeof value !== "object" || depth > depthMax) return notPlain;
  const proto: unknown = Object.getPrototypeOf(value);
  if (proto === Array.prototype) return copyArray(value as unknown[], seen, depth);
  if (proto !== Object.prototype || Symbol.toStringTag in value) return notPlain;
  const into: Record<string, unknown> = {};
  let known = seen;
  for (const key of Object.keys(value)) {
    if (key === "__proto__") return notPlain;
    const each = (value as Record<string, unknown>)[key];
    if (isPrimitive(each)) {
      into[key] = each;
      continue;
    }
    known ??= new Map();
    known.set(value, into);
    const inner = known.get(each as object) ?? copy(each as object, known, depth + 1);
    if (inner === notPlain) return notPlain;
    into[key] = inner;
  }
  known?.set(value, into);
  return into;
}

function copyArray(value: unknown[], seen: Map<object, unknown> | undefined, depth: number): unknown {
  const { length } = value;
  if (length <= namedUpTo && Object.keys(value).length !== length) return notPlain;
  const into = value.slice();
  let known = seen;
  for (let at = 0; at < length; at++) {
    const each = value[at];
    if (each === undefined && !(at in value)) return notPlain;
    if (isPrimitive(each)) continue;
    known ??= new Map();
    known.set(value, into);
    const inner = known.get(each as object) ?? copy(each as object, known, depth + 1);
    if (inner === notPlain) return notPlain;
    into[at] = inner;
  }
  known?.set(value, into);
  return into;
}

/** Runs tasks on the caller's thread with the effects of a run in a worker: values are moved or copied, and errors too. */
export class Inline {
  readonly #owner: PlacerOwner;
  /** A function per open asynchronous run that fails it. */
  readonly #waiting = new Set<(why: ClearwayError) => void>();

  constructor(owner: PlacerOwner) {
    this.#owner = owner;
  }

  /**
   * Runs a task now, to its end or to its first `await`. Copies the arguments, and moves those under `move()`. If the arguments cannot
   * cross, returns undefined without a run or a move; the call then goes to a worker, whose answer has the error.
   */
  run(task: PlacedTask, definition: TaskDefinition, args: unknown[], strict: boolean): Promise<unknown> | undefined {
    const own = this.#takeIn(args, strict);
    if (own === undefined) return undefined;
    task.calls++;
    task.inline++;
    try {
      const result = definition.wantsContext ? definition.run(new CallContext(silent), ...own) : definition.run(...own);
      if (isThenable(result)) return this.#later(task, definition, result, strict);
      const answer = Promise.resolve(cross(result, task.name, definition, strict, this.#owner.fromWorkers));
      task.ok++;
      return answer;
    } catch (reason) {
      task.failed++;
      return Promise.reject(crossError(reason));
    }
  }

  /** Fails all open runs. */
  abandon(why: ClearwayError): void {
    for (const fail of [...this.#waiting]) fail(why);
  }

  #takeIn(args: unknown[], strict: boolean): unknown[] | undefined {
    try {
      const plain: unknown[] = new Array(args.length);
      for (let at = 0; at < args.length; at++) {
        plain[at] = copyPlain(args[at]);
        if (plain[at] === notPlain) return this.#takeInAll(args, strict);
      }
      return plain;
    } catch {
      return undefined;
    }
  }

  // All arguments in one clone, so that an object in two arguments stays one.
  #takeInAll(args: unknown[], strict: boolean): unknown[] | undefined {
    if (args.some(needsWorker)) return undefined;
    const side = emptySide();
    const ready = args.map((each) => prepareValue(each, strict, side));
    // A deep value goes to the worker, which refuses it if it is too deep. The result is then the same in both places.
    if (ready.some(({ deep }) => deep)) return undefined;
    const own = structuredClone(
      ready.map(({ value }) => value),
      { transfer: ready.flatMap(({ transfer }) => transfer) as Transferable[] },
    );
    merge(this.#owner.toWorkers, side);
    return own;
  }

  #later(
    task: PlacedTask,
    definition: TaskDefinition,
    result: PromiseLike<unknown>,
    strict: boolean,
  ): Promise<unknown> {
    const { tracker } = this.#owner;
    tracker.openCount++;
    return new Promise((resolve, reject) => {
      let over = false;
      const end = (act: () => void): void => {
        if (over) return;
        over = true;
        this.#waiting.delete(abandon);
        try {
          act();
          task.ok++;
        } catch (reason) {
          task.failed++;
          reject(reason);
        }
        tracker.shut();
      };
      const abandon = (why: ClearwayError): void =>
        end(() => {
          throw why;
        });
      this.#waiting.add(abandon);
      // A foreign thenable may settle twice, or throw after it has settled.
      Promise.resolve(result).then(
        (value) =>
          end(() => {
            try {
              resolve(cross(value, task.name, definition, strict, this.#owner.fromWorkers));
            } catch (reason) {
              throw crossError(reason);
            }
          }),
        (reason) => abandon(crossError(reason) as ClearwayError),
      );
    });
  }
}

// Calls that can be cancelled, or that listen to progress, go to workers, so an inline run needs neither.
const silent = { id: 0, cancelCells: undefined, progress: () => {} };

// A stream needs credit. A table needs code that loads when the first table arrives.
function needsWorker(value: unknown): boolean {
  return value !== null && typeof value === "object" && (Symbol.asyncIterator in value || isTable(value));
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return value !== null && typeof value === "object" && typeof (value as { then?: unknown }).then === "function";
}
