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
/** The argument for a task's parameter that is a function. */
type CallbackFor<T> = T extends (...args: infer Args) => infer Result ? CallbackArgument<(...args: Received<Args>) => Returned<Awaited<Result>>> : never;

export type { CallbackArgument as C, Callback as a, CallbackFor as b };
