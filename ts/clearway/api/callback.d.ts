import { C as CallbackArgument, M as MethodNames, P as ProxyArgument } from './types-callback-stub.js';
export { a as Callback, R as Remote } from './types-callback-stub.js';
import './types-crossing.js';
import './types-move.js';

/** Options of {@link callback}. */
interface CallbackOptions {
    /**
     * Maximum number of calls of the function that have no answer, at least 1. Further calls wait in the task. With 1, the function runs
     * again only after its promise has settled. Default 64.
     */
    concurrency?: number;
}
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
declare function callback<Args extends unknown[], Result>(fn: (...args: Args) => Result, options?: CallbackOptions): CallbackArgument<(...args: Args) => Result>;
/** Options of {@link proxy}. */
interface ProxyOptions<Name extends string = string> extends CallbackOptions {
    /** The names of the methods that the task may call. Default: all methods of the object and of its classes. */
    methods?: readonly Name[];
}
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
declare function proxy<T extends object, Name extends MethodNames<T> = MethodNames<T>>(object: T, options?: ProxyOptions<Name>): ProxyArgument<Pick<T, Name>>;

export { CallbackArgument, MethodNames, ProxyArgument, callback, proxy };
export type { CallbackOptions, ProxyOptions };
