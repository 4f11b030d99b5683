// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Arrived, Sendable } from "../transfer/arrived.js";
import type { Moved } from "../transfer/move.js";

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
  [Name in keyof T]-?: T[Name] extends Fn ? (Name extends "then" | "toJSON" | symbol | number ? never : Name) : never;
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
