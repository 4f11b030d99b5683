// SPDX-License-Identifier: MIT OR Apache-2.0
import { refuseDetached } from "#host";
import { ClearwayError } from "../error/clearway-error.js";
import { OwnPromise, structuredClone } from "../globals.js";
import { bufferBytes, totalBufferBytes } from "../host/tag.js";
import { CallContext } from "../task/context.js";
import { isGenerator, type TaskDefinition } from "../task/task.js";
import { codedAs, Form } from "../transfer/coded.js";
import { isTable } from "../transfer/crossing.js";
import { sharedCopies } from "../transfer/find-memory.js";
import { emptySide, enter, type LedgerSide, merge } from "../transfer/ledger.js";
import { prepareValue } from "../transfer/prepare-argument.js";
import { prepareResult } from "../transfer/prepare-result.js";
import { movedAway, movedBefore, notCloneable, wouldCopy } from "../transfer/refusal.js";
import { revive } from "../transfer/revive.js";
import { decodeError, encodeThrown } from "../transfer/thrown.js";
import type { PlacedTask, PlacerOwner } from "./owner.js";

// Maximum depth of a value that `copyPlain` copies, so that its recursion does not overflow the stack. Structured clone copies deeper
// values.
const depthMax = 16;
// Maximum length of an array that is searched for named properties. Arrays with named properties, such as a match of a regular expression,
// are small. Searching large arrays would be too slow.
const namedUpTo = 16;

/**
 * Returns a task's result as if a worker had sent it. Moves the memory that can be moved, copies everything else, and enters both in the
 * ledger. Throws the same errors as for a worker's result, with the name of the task: `not-cloneable`, `would-copy`.
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
  const found = prepareResult(value, definition.moveSearchLimit);
  const copy = found.copies[0];
  if (copy !== undefined && strict) throw wouldCopy(copy.reason, copy.bytes);
  const crossed = clone(found.value, found.transfer, `the result of ${task}()`, strict);
  enter(side, crossed.movedBytes < 0 ? refused(found, -crossed.movedBytes) : found);
  return revive(codedAs(found.form, crossed.value));
}

// Clones a value and moves the objects in `transfer`. Some memory (WebAssembly's) cannot be moved, and only the attempt shows this. Such
// memory is copied, unless `strict` forbids it. `movedBytes` is then the negative number of bytes that were not moved.
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
    const buffers = transfer.filter((each) => bufferBytes(each) !== undefined);
    const bytes = totalBufferBytes(buffers);
    if (movedBefore(buffers)) throw movedAway(what, reason);
    if (buffers.length === 0) throw notCloneable(what, reason);
    if (strict) throw wouldCopy("not-transferable", bytes);
    const rest = transfer.filter((each) => bufferBytes(each) === undefined);
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
 * Returns a thrown value as if it had come from a worker: a copy of it, in the nearest class that can be sent between threads. Does not
 * append the caller's stack, because the stack of an inline run already contains the caller's frames.
 */
export function crossError(reason: unknown): unknown {
  return decodeError(encodeThrown(reason));
}

/** Result of {@link copyPlain} for a value that it does not copy. Structured clone must copy such a value. */
export const notPlain = Symbol("not plain");

/**
 * Copies a plain value with the same result as structured clone, but 5 to 30 times faster.
 *
 * Plain values are primitives, and nested arrays and plain objects of them. An object that occurs twice stays one object. Returns {@link
 * notPlain} for all other values. There is one difference: named properties of an array with more than 16 elements are lost.
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

/** Runs tasks on the caller's thread with the same effects as in a worker: arguments, results and errors are moved or copied. */
export class Inline {
  readonly #owner: PlacerOwner;
  /** One function per open asynchronous run. The function fails the run. */
  readonly #waiting = new Set<(why: ClearwayError) => void>();

  constructor(owner: PlacerOwner) {
    this.#owner = owner;
  }

  /**
   * Runs a task now, to its end or to its first `await`. Copies the arguments, and moves those under `move()`. If the arguments cannot be
   * sent, returns undefined: nothing was run or moved. The call then goes to a worker, whose answer contains the error.
   */
  run(task: PlacedTask, definition: TaskDefinition, args: unknown[], strict: boolean): Promise<unknown> | undefined {
    const own = this.#takeIn(args, strict);
    if (own === undefined) return undefined;
    task.calls++;
    task.inline++;
    try {
      const result = definition.wantsContext ? definition.run(new CallContext(silent), ...own) : definition.run(...own);
      if (isThenable(result)) return this.#later(task, definition, result, strict);
      const answer = OwnPromise.resolve(cross(result, task.name, definition, strict, this.#owner.fromWorkers));
      task.ok++;
      return answer;
    } catch (reason) {
      task.failed++;
      return OwnPromise.reject(crossError(reason));
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

  // Clones all arguments together, so that an object in two arguments stays one object.
  #takeInAll(args: unknown[], strict: boolean): unknown[] | undefined {
    if (args.some(needsWorker)) return undefined;
    const side = emptySide();
    const shared = sharedCopies(args);
    const ready = args.map((each) => prepareValue(each, strict, side, shared));
    // A deeply nested value goes to the worker, which rejects it if it is too deep. Both places then give the same result.
    // Instances of transfer handlers must be read on the other side.
    if (ready.some(({ deep, form }) => deep || form !== Form.plain)) return undefined;
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
    return new OwnPromise((resolve, reject) => {
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
      OwnPromise.resolve(result).then(
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

// An inline run needs neither cancellation nor progress. Calls that use one of them go to workers.
const silent = { id: 0, cancelCells: undefined, progress: () => {} };

// Returns whether an argument can only be passed to a worker. A stream needs credit from the other side. A table needs code that loads when
// the first table arrives.
function needsWorker(value: unknown): boolean {
  return value !== null && typeof value === "object" && (Symbol.asyncIterator in value || isTable(value));
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return value !== null && typeof value === "object" && typeof (value as { then?: unknown }).then === "function";
}
