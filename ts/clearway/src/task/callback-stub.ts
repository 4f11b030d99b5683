// SPDX-License-Identifier: MIT OR Apache-2.0
import { inProcess } from "#host";
import { ClearwayError } from "../error/clearway-error.js";
import { checkDepth } from "../error/depth.js";
import { decodeError } from "../error/wire.js";
import { isWireError } from "../error/wire-check.js";
import { clock, OwnPromise } from "../globals.js";
import type { Arrived, Sendable } from "../transfer/arrived.js";
import { codedAs, type Form, formsOf } from "../transfer/crossing.js";
import { sharedCopies } from "../transfer/find-memory.js";
import { emptySide, isEmpty, type LedgerSide, merge, onWire } from "../transfer/ledger.js";
import type { Moved } from "../transfer/move.js";
import { addTransfer, prepareForProcess, prepareValue } from "../transfer/move.js";
import { refusalOf } from "../transfer/refusal.js";
import { revive } from "../transfer/revive.js";
import type { CallbackAnswer, CallbackCall } from "../transport/callback.js";
import type { PortTransport } from "../transport/port.js";
import { Op } from "../transport/protocol.js";

/** An argument that stays connected with the caller: a stream or a callback. */
export interface TaskInput {
  /** Handles a value of the stream, or the answer to a call of the callback. */
  arrived(value: unknown, bytes: number): unknown;
  /** Ends the input, because its call is over or its stream has ended. */
  ended(value: unknown): void;
  failed(reason: unknown): void;
  /** Handles a message that could not be sent. Undefined for a stream, because a stream's reader sends only numbers. */
  refused?(message: unknown, reason: unknown): void;
  /** Refuses further calls. Returns a promise that settles when the calls before were sent. Returns undefined if all were sent. */
  finish?(): Promise<void> | undefined;
}

declare const callbackBrand: unique symbol;

/** A function under `callback()`: an argument of a call, which the task receives as a {@link Callback}. */
export interface CallbackArgument<Fn> {
  readonly [callbackBrand]: Fn;
}

type Fn = (...args: never[]) => unknown;
type Sent<Args extends unknown[]> = { [At in keyof Args]: Sendable<Args[At]> | Moved<Sendable<Args[At]>> };
type Received<Args extends unknown[]> = { [At in keyof Args]: Arrived<Args[At]> };

/**
 * A function of the caller, as a task receives it. It runs on the caller's thread. The promise settles with its value or its error.
 *
 * Copies the arguments, and moves those under `move()`. In a unit test, pass any function that returns a promise.
 */
export type Callback<F extends Fn> = {
  // The parameters of a method are compared both ways. A test may therefore pass a function that knows nothing of `move()`.
  /** Calls the function on the caller's thread. Rejects with its error, or with `callback-ended` after the end of the call. */
  call(...args: Sent<Parameters<F>>): Promise<Arrived<Awaited<ReturnType<F>>>>;
}["call"];

/** What the function of a callback may return for a task that expects a value of type `T`. For a task that expects nothing: anything. */
// biome-ignore lint/suspicious/noConfusingVoidType: the task expects nothing
type Returned<T> = [T] extends [void] ? unknown : T | Moved<T> | PromiseLike<T | Moved<T>>;

declare const remoteBrand: unique symbol;

/** An object under `proxy()`: an argument of a call, which the task receives as a {@link Remote}. */
export interface ProxyArgument<T> {
  // The parameters of a method are compared both ways, as those of the object's own methods are.
  readonly [callbackBrand]: T;
}

/** The names of the methods of an object that a proxy may have. */
export type MethodNames<T> = {
  [Name in keyof T]-?: T[Name] extends Fn
    ? Name extends "then" | "toJSON" | "toString" | "valueOf" | symbol | number
      ? never
      : Name
    : never;
}[keyof T] &
  string;

/**
 * An object of the caller, as a task receives it: its methods, which are asynchronous and run on the caller's thread. See {@link Callback}.
 *
 * In a unit test, pass any object whose methods return promises.
 */
export type Remote<T> = {
  readonly [Name in MethodNames<T>]: T[Name] extends Fn ? Callback<T[Name]> : never;
} & { readonly [remoteBrand]?: never };

/** The object whose proxy a task expects. */
type Proxied<T> = {
  [Name in keyof T & string]: T[Name] extends (...args: infer Args) => infer Result
    ? (...args: Received<Args>) => Returned<Awaited<Result>>
    : never;
};

/** The argument for a task's parameter that is a {@link Callback} or a {@link Remote}. */
export type CallbackFor<T> = T extends (...args: infer Args) => infer Result
  ? CallbackArgument<(...args: Received<Args>) => Returned<Awaited<Result>>>
  : typeof remoteBrand extends keyof T
    ? ProxyArgument<Proxied<T>>
    : never;

/** A call of the callback that has no answer. */
interface OpenCall {
  readonly args: unknown[];
  resolve(value: unknown): void;
  reject(reason: unknown): void;
}

/**
 * The task's end of a callback. `argument` gives what the task receives.
 *
 * At most `concurrency` calls have no answer. Further calls wait here, in order. A rejection that nothing awaits is not an unhandled
 * rejection: it would end the worker, although the task only reported something.
 */
export class CallbackStub implements TaskInput {
  readonly #transport: PortTransport;
  readonly #id: number;
  readonly #concurrency: number;
  readonly #strict: boolean;
  #last = 0;
  /** Calls that were sent, by their numbers. */
  readonly #sent = new Map<number, OpenCall>();
  /** Calls that wait for an answer to an earlier one. The entries before `#head` were sent and are empty. */
  #waiting: (OpenCall | undefined)[] = [];
  #head = 0;
  /** Makes the error for further calls. Undefined while the call is open. */
  #refusal: (() => unknown) | undefined;
  #drained: (() => void) | undefined;
  /** Ledger entries of sent calls that contain memory. If the transport then refuses a call, its entries are reversed. */
  readonly #entered = new WeakMap<object, LedgerSide>();

  constructor(transport: PortTransport, id: number, concurrency: number, strict: boolean) {
    this.#transport = transport;
    this.#id = id;
    this.#concurrency = concurrency;
    this.#strict = strict;
  }

  readonly call = (...args: unknown[]): Promise<unknown> => {
    const answer = new OwnPromise<unknown>((resolve, reject) => {
      if (this.#refusal) return reject(this.#refusal());
      const open = { args, resolve, reject };
      if (this.#sent.size < this.#concurrency && !this.#hasWaiting) this.#send(open);
      else this.#waiting.push(open);
    });
    answer.catch(() => {});
    return answer;
  };

  /** Returns what the task receives: the function, or an object with these methods. */
  argument(methods: readonly string[] | undefined): unknown {
    if (!methods) return this.call;
    const call =
      (at: number) =>
      (...args: unknown[]) =>
        this.call(at, ...args);
    // The object has only its methods, so nothing else of it can be called. It has no `then`, because no proxy has a method of that name.
    return Object.freeze(
      Object.assign(Object.create(null), Object.fromEntries(methods.map((name, at) => [name, call(at)]))),
    );
  }

  /** Handles the answer to a call. */
  arrived(message: unknown): void {
    // A message of another form belongs to no call.
    if (!Array.isArray(message)) return;
    const [call, value, error, form] = message as unknown as CallbackAnswer;
    if (error !== undefined && !isWireError(error)) return;
    const open = this.#take(call);
    if (!open) return;
    if (error === undefined) open.resolve(revive(codedAs(form, value)));
    else open.reject(decodeError(error));
    this.#sendWaiting();
  }

  /** Handles a call that could not be sent. */
  refused(message: unknown, reason: unknown): void {
    const entry = this.#entered.get(message as object);
    if (entry) this.#enter(entry, -1);
    this.#take((message as CallbackCall)[0])?.reject(refusalOf(what, reason));
    this.#sendWaiting();
  }

  finish(): Promise<void> | undefined {
    this.#refusal ??= ended;
    if (!this.#hasWaiting) return undefined;
    return new OwnPromise((resolve) => {
      this.#drained = resolve;
    });
  }

  ended(): void {
    this.#end(ended);
  }

  failed(reason: unknown): void {
    this.#end(() => reason);
  }

  get #hasWaiting(): boolean {
    return this.#head < this.#waiting.length;
  }

  #end(refusal: () => unknown): void {
    this.#refusal = refusal;
    const open = [...this.#sent.values(), ...this.#waiting.slice(this.#head)];
    this.#sent.clear();
    this.#waiting = [];
    this.#head = 0;
    for (const each of open) each?.reject(refusal());
    this.#drained?.();
  }

  #take(call: number): OpenCall | undefined {
    const open = this.#sent.get(call);
    this.#sent.delete(call);
    return open;
  }

  #sendWaiting(): void {
    while (this.#hasWaiting && this.#sent.size < this.#concurrency) {
      const open = this.#waiting[this.#head] as OpenCall;
      this.#waiting[this.#head++] = undefined;
      // `shift` would move all waiting calls for each call.
      if (this.#head * 2 >= this.#waiting.length) {
        this.#waiting.splice(0, this.#head);
        this.#head = 0;
      }
      this.#send(open);
    }
    if (!this.#hasWaiting) this.#drained?.();
  }

  #send(open: OpenCall): void {
    const call = ++this.#last;
    this.#sent.set(call, open);
    try {
      this.#post(call, open.args);
    } catch (reason) {
      // The getters and traps of an argument are foreign code.
      this.#sent.delete(call);
      open.reject(refusalOf(what, reason));
    }
  }

  #post(call: number, args: unknown[]): void {
    const transport = this.#transport;
    // A call that the ring accepts needs no search for memory. The caller adds its copied bytes to the ledger when it arrives.
    if (!this.#strict && transport.sendByRing(Op.Chunk, this.#id, [call, args], 0)) return transport.hurry(clock());
    const entry = emptySide();
    const toProcess = hasProcesses && inProcess;
    let transfer: object[] = [];
    const forms: Form[] = [];
    const shared = sharedCopies(args);
    const values = args.map((each) => {
      const ready = (toProcess ? prepareForProcess : prepareValue)(each, this.#strict, entry, shared);
      if (ready.deep) checkDepth(ready.value);
      if (ready.transfer.length > 0) transfer = addTransfer(transfer, ready.transfer, toProcess ? undefined : entry);
      forms.push(ready.form);
      return ready.value;
    });
    const found = formsOf(forms);
    const message: CallbackCall = found ? [call, values, found] : [call, values];
    if (!isEmpty(entry)) {
      this.#entered.set(message, entry);
      this.#enter(entry, 1);
    }
    transport.send(Op.Chunk, this.#id, message, 0, transfer);
    // The task may go on without letting this thread's turn end.
    transport.hurry(clock());
  }

  // Adds an entry to the pool's ledger, or subtracts it.
  #enter(entry: LedgerSide, sign: 1 | -1): void {
    const side = emptySide();
    merge(side, entry, sign);
    this.#transport.send(Op.Ledger, 0, onWire(side));
  }
}

function ended(): ClearwayError {
  return new ClearwayError(
    "callback-ended",
    "a callback was called after its call had ended: await its calls before the task returns",
  );
}

// What the errors for a value that cannot cross call it.
const what = "an argument of a callback";
