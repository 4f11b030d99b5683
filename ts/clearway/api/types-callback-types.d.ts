import { U as Unmoved } from './types-crossing.js';
import { M as Moved } from './types-move.js';

declare const callbackBrand: unique symbol;
/** A function under `callback()`: an argument of a call, which the task receives as a {@link Callback}. */
interface CallbackArgument<Fn> {
    readonly [callbackBrand]: Fn;
}
type Fn = (...args: never[]) => unknown;
type Sent<Args extends unknown[]> = {
    [At in keyof Args]: Args[At] | Moved<Args[At]>;
};
type Received<Args extends unknown[]> = {
    [At in keyof Args]: Unmoved<Args[At]>;
};
/**
 * A function of the caller, as a task receives it. It runs on the caller's thread. The promise settles with its value or its error.
 *
 * Copies the arguments, and moves those under `move()`. In a unit test, pass any function that returns a promise.
 */
type Callback<F extends Fn> = {
    /** Calls the function on the caller's thread. Rejects with its error, or with `callback-ended` after the end of the call. */
    call(...args: Sent<Parameters<F>>): Promise<Unmoved<Awaited<ReturnType<F>>>>;
}["call"];
/** What the function of a callback may return for a task that expects a value of type `T`. For a task that expects nothing: anything. */
type Returned<T> = [T] extends [void] ? unknown : T | Moved<T> | PromiseLike<T | Moved<T>>;
declare const remoteBrand: unique symbol;
/** An object under `proxy()`: an argument of a call, which the task receives as a {@link Remote}. */
interface ProxyArgument<T> {
    readonly [callbackBrand]: T;
}
/** The names of the methods of an object that a proxy may have. */
type MethodNames<T> = {
    [Name in keyof T]-?: T[Name] extends Fn ? (Name extends "then" | "toJSON" | symbol | number ? never : Name) : never;
}[keyof T] & string;
/**
 * An object of the caller, as a task receives it: its methods, which are asynchronous and run on the caller's thread. See {@link Callback}.
 *
 * In a unit test, pass any object whose methods return promises.
 */
type Remote<T> = {
    readonly [Name in MethodNames<T>]: T[Name] extends Fn ? Callback<T[Name]> : never;
} & {
    readonly [remoteBrand]?: never;
};
/** The object whose proxy a task expects. */
type Proxied<T> = {
    [Name in keyof T & string]: T[Name] extends (...args: infer Args) => infer Result ? (...args: Received<Args>) => Returned<Awaited<Result>> : never;
};
/** The argument for a task's parameter that is a {@link Callback} or a {@link Remote}. */
type CallbackFor<T> = T extends (...args: infer Args) => infer Result ? CallbackArgument<(...args: Received<Args>) => Returned<Awaited<Result>>> : typeof remoteBrand extends keyof T ? ProxyArgument<Proxied<T>> : never;

export type { CallbackArgument as C, MethodNames as M, ProxyArgument as P, Remote as R, Callback as a, CallbackFor as b };
