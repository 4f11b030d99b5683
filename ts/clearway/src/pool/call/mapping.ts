// SPDX-License-Identifier: MIT OR Apache-2.0
import { inContext, onAbort } from "#host";
import { abortSignal, checked, isThenable, type Rules, whole } from "../../error/checked.js";
import { ClearwayError, invalid } from "../../error/clearway-error.js";
import { newAbortController, OwnPromise } from "../../globals.js";
import { asyncIteratorOf } from "../../host/async-iterable.js";
import type { CallSettings } from "../options.js";
import { notify } from "./listener.js";
import type { MapOptions, MapSource } from "./map.js";

/** A `next()` of the reader that has no answer yet. */
interface Waiter {
  resolve(step: IteratorResult<unknown>): void;
  reject(reason: unknown): void;
}

const rules: Rules = {
  concurrency: whole(1),
  ordered: "boolean",
  signal: abortSignal,
  args: (value) => Array.isArray(value) || "an array",
  onResult: "function",
};

// Ends a mapping when its reader is garbage-collected. Otherwise its inputs would stay open for ever.
const forgotten = new FinalizationRegistry<Mapping>((mapping) =>
  mapping.end({ reason: new ClearwayError("abandoned", "the results were dropped before their end") }),
);

/**
 * Calls a task for each input, a bounded number at a time, and passes the results to one reader. A slow reader slows down the reading of
 * the inputs. The first error ends the mapping: it cancels the open calls and closes the inputs.
 *
 * The inputs and `onResult` are code of the app. They may throw, hang, or call back into the mapping.
 */
export class Mapping {
  /** The caller's handle, while the caller waits for a result. */
  keepAlive: object | undefined;
  readonly #source: MapSource;
  readonly #options: MapOptions;
  readonly #concurrency: number;
  readonly #signals: readonly (AbortSignal | undefined)[];
  /** Cancels the open calls. */
  readonly #cancel = newAbortController();
  readonly #call: CallSettings;
  /** Runs code of the app in the async context in which the mapping was made. */
  readonly #act = inContext(<Result>(act: () => Result): Result => act());
  #inputs: Inputs | undefined;
  #begun = false;
  #pulling = false;
  /** Whether the inputs are being opened. Their code may call back into the mapping. */
  #opening = false;
  /** Whether the inputs have ended, failed or been closed. They must not be closed again. */
  #inputsOver = false;
  #over = false;
  #failure: { reason: unknown } | undefined;
  /** The error with which the mapping ends after its open calls. Set when the pool takes no new calls. */
  #closing: ClearwayError | undefined;
  /** Number of calls that were made, that have ended, and whose results the reader has. */
  #made = 0;
  #ended = 0;
  #read = 0;
  /** Results that the reader does not have, by their place in the order of reading. */
  readonly #results = new Map<number, unknown>();
  readonly #waiters: Waiter[] = [];
  #all: Promise<unknown[]> | undefined;
  #settleAll: { resolve(results: unknown[]): void; reject(reason: unknown): void } | undefined;
  #unlisten: (() => void)[] = [];

  /** Returns the mapping for a caller's handle. Starts nothing. Throws `invalid-argument` for an invalid option. */
  static of(handle: object, source: MapSource): Mapping {
    const mapping = new Mapping(source);
    forgotten.register(handle, mapping, mapping);
    return mapping;
  }

  private constructor(source: MapSource) {
    const { max, concurrency } = source.engine.settings;
    const options = checked(source.options ?? {}, rules, {
      concurrency: 2 * max * concurrency,
      ordered: true,
      args: [],
    });
    this.#source = source;
    this.#options = options;
    this.#concurrency = options.concurrency!;
    this.#signals = [source.call.signal, options.signal];
    this.#call = { ...source.call, signal: this.#cancel.signal, limited: true, waits: true };
  }

  /** Returns the next result. */
  next(handle: object): Promise<IteratorResult<unknown>> {
    return new OwnPromise((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
      this.#wanted(handle);
    });
  }

  /** Returns all results that were not read. */
  collect(handle: object): Promise<unknown[]> {
    this.#all ??= new OwnPromise((resolve, reject) => {
      this.#settleAll = { resolve, reject };
      if (this.#over) this.#settle();
      else this.#wanted(handle);
    });
    return this.#all;
  }

  /** Ends the mapping, because its reader wants no more results. */
  async return(): Promise<IteratorResult<unknown>> {
    this.end(this.#all && { reason: new ClearwayError("cancelled", "the results were ended by their reader") });
    this.#failure = undefined;
    this.#results.clear();
    return { done: true, value: undefined };
  }

  /** Ends the mapping: cancels the open calls and closes the inputs. Only the first use of this method has an effect. */
  end(failure?: { reason: unknown }): void {
    if (this.#over) return;
    this.#over = true;
    this.#failure = failure;
    forgotten.unregister(this);
    for (const unlisten of this.#unlisten.splice(0)) unlisten();
    if (this.#ended < this.#made) this.#cancel.abort(new ClearwayError("cancelled", "the mapping has ended"));
    this.#closeInputs();
    this.#settle();
  }

  #wanted(handle: object): void {
    if (!this.#over) this.keepAlive = handle;
    if (!this.#begun) this.#begin();
    this.#advance();
  }

  #begin(): void {
    this.#begun = true;
    const { engine, inputs } = this.#source;
    const close = (why: ClearwayError): void => {
      this.#closing ??= why;
      this.#advance();
    };
    engine.endings.add(close);
    this.#listening(() => engine.endings.delete(close));
    this.#closing = engine.ended;
    for (const signal of this.#signals) {
      // The signal is code of the app. It may abort while a listener is added.
      if (signal && !this.#over) this.#listening(onAbort(signal, (reason) => this.end({ reason })));
    }
    if (this.#over) return;
    try {
      if (this.#givesStreams) throw givesStream("map", this.#source.name);
      this.#opening = true;
      this.#inputs = this.#act(() => open(inputs));
      this.#opening = false;
      // The inputs may have ended the mapping while they were opened.
      if (this.#over) this.#closeInputs();
    } catch (reason) {
      // Inputs that cannot be opened need not be closed. Those of a task that gives a stream were not opened yet.
      this.#inputsOver = this.#opening;
      this.end({ reason });
    }
  }

  #listening(unlisten: () => void): void {
    if (this.#over) unlisten();
    else this.#unlisten.push(unlisten);
  }

  // Passes on the results that the reader may have, then reads more inputs or ends the mapping.
  #advance(): void {
    this.#settle();
    if (this.#over) return;
    const idle = this.#ended === this.#made;
    if (idle && this.#inputsOver) this.end();
    else if (idle && this.#closing) this.end({ reason: this.#closing });
    else if (this.#mayPull && !this.#pulling) void this.#pull();
  }

  get #mayPull(): boolean {
    if (this.#over || this.#inputsOver || this.#closing || !this.#inputs) return false;
    return this.#made - (this.#all ? this.#ended : this.#read) < this.#concurrency;
  }

  async #pull(): Promise<void> {
    const { backlog } = this.#source.engine;
    const inputs = this.#inputs!;
    let stepping = false;
    this.#pulling = true;
    try {
      while (this.#mayPull) {
        if (backlog.full) {
          await backlog.room();
          continue;
        }
        stepping = true;
        let step = this.#act(() => inputs.next());
        // Awaits only promises, so that synchronous inputs do not wait one turn for each value.
        if (isThenable(step)) step = await step;
        if (Object(step) !== step) throw new TypeError("next() of the inputs must return an object");
        const { done, value } = step as IteratorResult<unknown>;
        stepping = false;
        if (done) {
          this.#inputsOver = true;
          break;
        }
        const input = inputs.sync && isThenable(value) ? await value : value;
        if (!this.#over && !this.#closing) this.#submit(input);
      }
    } catch (reason) {
      // Inputs whose `next()` fails are over. After the failure of a promise among synchronous inputs, they must still be closed.
      if (stepping) this.#inputsOver = true;
      this.end({ reason });
    } finally {
      this.#pulling = false;
    }
    this.#advance();
  }

  #submit(input: unknown): void {
    const { engine, name } = this.#source;
    const index = this.#made++;
    const answer = this.#act(() => engine.submit(name, [input, ...this.#options.args!], this.#call, this.#submitted));
    OwnPromise.resolve(answer).then(
      (value) => this.#succeeded(index, value),
      (reason) => {
        this.#ended++;
        this.end({ reason });
      },
    );
  }

  readonly #submitted = (): void => {};

  #succeeded(index: number, value: unknown): void {
    const place = this.#options.ordered ? index : this.#ended;
    this.#ended++;
    if (this.#givesStreams) {
      void (value as AsyncGenerator).return(undefined);
      return this.end({ reason: givesStream("map", this.#source.name) });
    }
    if (this.#over) return;
    this.#results.set(place, value);
    notify(
      () => this.#act(() => this.#options.onResult?.(value, index)),
      (reason) => this.end({ reason }),
    );
    this.#advance();
  }

  // Passes on results, and the end once the mapping is over.
  #settle(): void {
    if (this.#over && this.#settleAll) {
      const { resolve, reject } = this.#settleAll;
      this.#settleAll = undefined;
      if (this.#failure) reject(this.#failure.reason);
      else resolve(this.#rest());
    }
    while (this.#waiters.length > 0 && (this.#over || this.#results.has(this.#read))) {
      const { resolve, reject } = this.#waiters.shift()!;
      const failure = this.#failure;
      if (this.#results.has(this.#read)) resolve({ done: false, value: this.#take() });
      else if (failure) {
        this.#failure = undefined;
        reject(failure.reason);
      } else resolve({ done: true, value: undefined });
    }
    if (this.#over || (this.#waiters.length === 0 && !this.#settleAll)) this.keepAlive = undefined;
  }

  #take(): unknown {
    const value = this.#results.get(this.#read);
    this.#results.delete(this.#read++);
    return value;
  }

  #rest(): unknown[] {
    const rest: unknown[] = [];
    while (this.#results.has(this.#read)) rest.push(this.#take());
    return rest;
  }

  // Does not wait for the inputs, because their `return()` may wait for a value that never comes. Inputs that were never opened may hold a file or
  // a connection, too.
  #closeInputs(): void {
    if (this.#inputsOver || this.#opening) return;
    this.#inputsOver = true;
    const { engine, inputs } = this.#source;
    const close = async () => (this.#inputs ?? open(inputs)).return();
    // Whether inputs that were never opened could be is of no interest.
    this.#act(close).catch((reason) => this.#inputs && engine.settings.onError(reason));
  }

  get #givesStreams(): boolean {
    return this.#source.engine.tasks.of(this.#source.name).kind === "stream";
  }
}

/** Returns the error for a stream task where a task with one result is needed. */
export function givesStream(what: string, name: string): ClearwayError {
  return new ClearwayError("invalid-argument", `${what} needs a task with one result, and ${name}() gives a stream`);
}

/** The opened inputs. */
interface Inputs {
  readonly sync: boolean;
  next(): unknown;
  return(): unknown;
}

function open(source: unknown): Inputs {
  const later = asyncIteratorOf(Object(source));
  const method: unknown = later ?? (Object(source) as Partial<Iterable<unknown>>)[Symbol.iterator];
  // A text is iterable, but its letters are hardly meant.
  if (typeof method !== "function" || typeof source === "string")
    throw invalid("inputs", "an iterable or an async iterable", source);
  const iterator = method.call(source) as { next(): unknown; return?(): unknown };
  return { sync: !later, next: () => iterator.next(), return: () => iterator.return?.() };
}
