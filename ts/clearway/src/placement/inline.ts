// SPDX-License-Identifier: MIT OR Apache-2.0
import type { ClearwayError } from "../error/clearway-error.js";
import { CallContext } from "../task/context.js";
import type { TaskDefinition } from "../task/task.js";
import { emptySide, merge } from "../transfer/ledger.js";
import { prepareValue } from "../transfer/prepare.js";
import { isTable } from "../transfer/revive.js";
import { copyPlain, notPlain } from "./copy.js";
import { cross, crossError } from "./outcome.js";
import type { PlacedTask, PlacerOwner } from "./owner.js";

/** Runs tasks on the caller's thread so that a caller cannot tell: nothing is shared, what moves moves, errors cross. */
export class Inline {
  readonly #owner: PlacerOwner;
  /** Asynchronous ones that are not over: how to fail each. */
  readonly #waiting = new Set<(why: ClearwayError) => void>();

  constructor(owner: PlacerOwner) {
    this.#owner = owner;
  }

  /**
   * Runs a task now, to its end or to its first `await`. Copies the arguments, takes those under `move()` from their
   * owner. Returns undefined, having run and taken nothing, when the arguments cannot cross: a worker's answer says why.
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

  /** Fails what waits. */
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

  // Together, so that an object in two arguments stays one.
  #takeInAll(args: unknown[], strict: boolean): unknown[] | undefined {
    if (args.some(needsWorker)) return undefined;
    const side = emptySide();
    const ready = args.map((each) => prepareValue(each, strict, side));
    // Whether it may cross is asked where it would: a value that is refused there is refused wherever the call runs.
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
      // A thenable of somebody's own may answer twice, or throw after answering.
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

// Calls that could be cancelled, or whose progress is listened to, go to workers.
const silent = { id: 0, cancelCells: undefined, progress: () => {} };

// A stream has to be fed with credit; a table needs code that is loaded when the first one comes.
function needsWorker(value: unknown): boolean {
  return value !== null && typeof value === "object" && (Symbol.asyncIterator in value || isTable(value));
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return value !== null && typeof value === "object" && typeof (value as { then?: unknown }).then === "function";
}
