// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * Functions and objects as arguments of calls: a task calls back into its caller's thread. Callers import `callback` and `proxy`, and task
 * modules the types `Callback` and `Remote`.
 *
 * @module clearway/callback
 */

import { checked, object as checkedObject, isThenable, type Rules, whole } from "./error/checked.js";
import { ClearwayError, invalid } from "./error/clearway-error.js";
import { checkDepth } from "./error/depth.js";
import { isListOf } from "./error/wire-check.js";
import { OwnPromise } from "./globals.js";
import { calledByLanguage } from "./pool/by-name.js";
import type { CallbackArgument, MethodNames, ProxyArgument } from "./task/callback-stub.js";
import { allCodedAs, Form } from "./transfer/crossing.js";
import { emptySide, isEmpty, type LedgerSide, merge } from "./transfer/ledger.js";
import { prepareForProcess, prepareValue } from "./transfer/move.js";
import { refusalOf } from "./transfer/refusal.js";
import { revive } from "./transfer/revive.js";
import { encodeThrown } from "./transfer/thrown.js";
import {
  type CallbackAnswer,
  type CallbackCall,
  type CallbackEnd,
  type CallbackWire,
  callbackKey,
} from "./transport/callback.js";
import { isFormsOf } from "./transport/protocol.js";

export type { Callback, CallbackArgument, MethodNames, ProxyArgument, Remote } from "./task/callback-stub.js";

/**
 * The caller's end of one callback in one call. Runs the function, and answers the task.
 *
 * The function is foreign code: it may throw, hang, end the call or the pool, and return any value. The messages come from a worker, which
 * may be hostile. Either affects only the session's own call.
 */
class Session implements CallbackEnd, AsyncIterator<never> {
  readonly [callbackKey]: CallbackEnd = this;
  readonly producer = { grant: (): void => {}, stop: (): void => this.#stop() };
  /** Undefined once the call is over, so that what the function refers to is free. */
  #fn: ((...args: unknown[]) => unknown) | undefined;
  #wire: CallbackWire | undefined;
  /** Numbers of the calls without an answer. */
  readonly #open = new Set<number>();
  /** Settles when the tables in earlier calls are ready. Undefined if no call waits for its tables. */
  #reading: Promise<void> | undefined;
  #over = false;
  /** Ledger entries of sent answers that contain memory. If the transport then refuses an answer, its entries are reversed. */
  readonly #entered = new WeakMap<object, LedgerSide>();

  constructor(
    fn: (...args: unknown[]) => unknown,
    readonly concurrency: number,
    readonly methods?: readonly string[],
  ) {
    this.#fn = fn;
  }

  get asked(): boolean {
    return this.#open.size > 0;
  }

  /** Never called by a pool. A reader that takes the mark for a stream finds it empty. */
  async next(): Promise<IteratorResult<never>> {
    return { done: true, value: undefined };
  }

  /** Ends the session of a call that was never sent. */
  async return(): Promise<IteratorResult<never>> {
    this.#stop();
    return { done: true, value: undefined };
  }

  connect(wire: CallbackWire): void {
    this.#wire = wire;
    this.#open.clear();
  }

  called(message: unknown): void {
    if (this.#over) return;
    if (!this.#accepts(message)) {
      this.#wire?.fail(
        new ClearwayError("protocol", "the worker sent a call of a callback that its credit does not allow"),
      );
      return;
    }
    const [call, args, forms] = message;
    this.#open.add(call);
    if (this.#reading === undefined && forms === undefined) this.#run(call, args);
    else this.#read(call, args, forms);
  }

  refuse(message: unknown, reason: unknown): void {
    const entry = this.#entered.get(message as object);
    if (entry && this.#wire) merge(this.#wire.ledger, entry, -1);
    this.#sendError((message as CallbackAnswer)[0], refusalOf(what, reason));
  }

  #accepts(message: unknown): message is CallbackCall {
    if (!Array.isArray(message)) return false;
    const [call, args, forms] = message;
    if (!isListOf(args, () => true) || (forms !== undefined && !isFormsOf(forms, args.length))) return false;
    return Number.isInteger(call) && !this.#open.has(call) && this.#open.size < this.concurrency;
  }

  // Reads the arguments that are not plain. Later calls wait, because calls keep their order.
  #read(call: number, args: readonly unknown[], forms: CallbackCall[2]): void {
    const before = this.#reading;
    const read = async (): Promise<void> => {
      await before;
      try {
        const ready = await OwnPromise.all(allCodedAs(forms, args).map((each) => revive(each)));
        if (!this.#over) this.#run(call, ready);
      } catch (reason) {
        this.#fail(call, reason);
      }
    };
    const reading = read().then(() => {
      if (this.#reading === reading) this.#reading = undefined;
    });
    this.#reading = reading;
  }

  #run(call: number, args: readonly unknown[]): void {
    try {
      // The function is called without a `this`.
      const fn = this.#fn;
      const value = fn?.(...args);
      if (!isThenable(value)) return this.#answer(call, value);
      // A foreign thenable may settle twice, or throw after it has settled.
      OwnPromise.resolve(value).then(
        (each) => this.#answer(call, each),
        (reason) => this.#fail(call, reason),
      );
    } catch (reason) {
      this.#fail(call, reason);
    }
  }

  #answer(call: number, value: unknown): void {
    if (!this.#close(call) || !this.#wire) return;
    const { strict, ledger } = this.#wire;
    const prepare = hasProcesses && this.#wire.toProcess ? prepareForProcess : prepareValue;
    const entry = emptySide();
    try {
      const ready = prepare(value, strict, entry);
      if (ready.deep) checkDepth(ready.value);
      const message: CallbackAnswer =
        ready.form === Form.plain ? [call, ready.value] : [call, ready.value, undefined, ready.form];
      if (!isEmpty(entry)) {
        merge(ledger, entry);
        this.#entered.set(message, entry);
      }
      this.#wire.answer(message, ready.transfer);
    } catch (reason) {
      // The value's getters and traps are foreign code.
      this.#sendError(call, refusalOf(what, reason));
    }
  }

  #fail(call: number, reason: unknown): void {
    if (this.#close(call)) this.#sendError(call, reason);
  }

  #sendError(call: number, reason: unknown): void {
    if (!this.#over) this.#wire?.answer([call, undefined, encodeThrown(reason)], []);
  }

  // Returns whether the task still waits for the answer.
  #close(call: number): boolean {
    return this.#open.delete(call) && !this.#over;
  }

  #stop(): void {
    this.#over = true;
    this.#fn = undefined;
    this.#wire = undefined;
    this.#open.clear();
  }
}

// What the errors for a value that cannot cross call it.
const what = "the value of a callback";

/**
 * A function under `callback()`, or an object under `proxy()`. A pool treats it as a stream argument: it opens a session for each call, and
 * closes it with the call.
 */
class MarkedFunction implements AsyncIterable<never> {
  /** Tells a callback from a stream. */
  readonly [callbackKey] = true;
  readonly #fn: (...args: unknown[]) => unknown;
  readonly #concurrency: number;
  readonly #methods: readonly string[] | undefined;
  // Structured clone rejects functions. Because of this property, it rejects a MarkedFunction inside another object. The error names the
  // property.
  readonly "callback() marks an argument itself, and so does proxy()" = (): void => {};

  /** `methods` are the names of an object's methods. The first argument of `fn` is then the index of a name. */
  constructor(fn: (...args: unknown[]) => unknown, concurrency: number, methods?: readonly string[]) {
    this.#fn = fn;
    this.#concurrency = concurrency;
    this.#methods = methods;
  }

  [Symbol.asyncIterator](): Session {
    return new Session(this.#fn, this.#concurrency, this.#methods);
  }
}

/** Options of {@link callback}. */
export interface CallbackOptions {
  /**
   * Maximum number of calls of the function that have no answer, at least 1. Further calls wait in the task. With 1, the function runs
   * again only after its promise has settled. Default 64.
   */
  concurrency?: number | undefined;
}

/** The rules and defaults of the options. */
const rules: Rules = { concurrency: whole(1) };
const defaults = { concurrency: 64 };

/**
 * Marks a function that a task may call: `pool.call.search(text, callback((percent) => bar.set(percent)))`. The task receives an
 * asynchronous function, a `Callback`. The mark must be an argument itself. Inside another value, the call fails with `not-cloneable`.
 *
 * The function runs on this thread, in the async context of the call, in the order in which the task calls it. Its arguments are copies,
 * unless the task moves them. Its value is copied to the task, or moved under `move()`; an error that it throws rejects the task's promise.
 *
 * It ends with the call: after the call has settled, the function is not called any more, and calls that the task still makes reject with
 * `callback-ended`. The call's result waits until all calls that the task has made are sent, but not until they are answered.
 *
 * A call with a callback never runs again in another worker once it has begun. The same mark may be an argument of several calls.
 * Throws `invalid-argument` if `fn` is not a function, or for an invalid option.
 */
export function callback<Args extends unknown[], Result>(
  fn: (...args: Args) => Result,
  options: CallbackOptions = {},
): CallbackArgument<(...args: Args) => Result> {
  if (typeof fn !== "function") throw invalid("fn", "a function", fn);
  const { concurrency } = checked(options, rules, defaults);
  const marked: unknown = new MarkedFunction(fn as (...args: unknown[]) => unknown, concurrency!);
  return marked as CallbackArgument<typeof fn>;
}

/** Options of {@link proxy}. */
export interface ProxyOptions<Name extends string = string> extends CallbackOptions {
  /** The names of the methods that the task may call. Default: all methods of the object and of its classes. */
  methods?: readonly Name[] | undefined;
}

// Names that no proxy has. Code that looks for the class of an object reads the last two.
const refused = [...calledByLanguage, "constructor", "__proto__"];

const proxyRules: Rules = {
  ...rules,
  methods: (value) =>
    (Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === "string")) ||
    "a list of names of methods",
};

// Maximum number of classes above an object. A foreign object may give a new prototype at each request, without end.
const classesMax = 100;

/**
 * Marks an object whose methods a task may call: `pool.call.build(files, proxy(console, { methods: ["log"] }))`. The task receives a
 * `Remote`, which is an object with asynchronous methods of the same names. Nothing else of the object crosses.
 *
 * The methods run on this thread, as methods of `object`, in the order in which the task calls them. For their arguments, values, errors and
 * end, the same holds as for a function under `callback()`. The methods of one proxy share its `concurrency`.
 *
 * Without `methods`, the task may call every method that the object has now: own functions, and those of its classes, but no getters, and
 * nothing with a symbol as its name. No proxy has methods called `then`, `toJSON`, `toString`, `valueOf`, `constructor` or `__proto__`.
 *
 * Throws `invalid-argument` if the object has no method, if it has no method of a name in `methods`, or for an invalid option.
 */
export function proxy<T extends object, Name extends MethodNames<T> = MethodNames<T>>(
  object: T,
  options: ProxyOptions<Name> = {},
): ProxyArgument<Pick<T, Name>> {
  checkedObject("object", object);
  const { methods, concurrency } = checked(options, proxyRules, defaults);
  const names = [...new Set<string>(methods ? methods.map((each) => named(object, each)) : methodsOf(object))];
  if (names.length === 0) throw invalid("object", "an object with methods", object);
  const call = (at: unknown, ...args: unknown[]): unknown => {
    // The index comes from a worker, which may be hostile.
    const name = typeof at === "number" ? names[at] : undefined;
    if (name === undefined)
      throw new ClearwayError("protocol", "the worker called a method that the proxy does not have");
    return (object as Record<string, (...args: unknown[]) => unknown>)[name]!(...args);
  };
  const marked: unknown = new MarkedFunction(call, concurrency!, names);
  return marked as ProxyArgument<Pick<T, Name>>;
}

function named(object: object, name: string): string {
  const must = refused.includes(name)
    ? "a name that a proxy may have"
    : typeof (object as Record<string, unknown>)[name] !== "function" && "the name of a method";
  if (must) throw invalid("methods", must, name);
  return name;
}

// Returns the names of an object's methods. Calls no getter. Omits the methods that every object has.
function methodsOf(object: object): string[] {
  const names = new Set<string>();
  const seen = new Set<PropertyKey>();
  let each: object | null = object;
  for (let depth = 0; each !== null; depth++) {
    const above: object | null = Object.getPrototypeOf(each);
    // `Object.prototype`, of any realm.
    if (above === null && depth > 0) break;
    if (depth > classesMax) throw invalid("object", `an object of at most ${classesMax} classes`, object);
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(each))) {
      // A property hides those of the same name above it.
      if (!seen.has(name) && typeof value === "function" && !refused.includes(name)) names.add(name);
      seen.add(name);
    }
    each = above;
  }
  return [...names];
}
