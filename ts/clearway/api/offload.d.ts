import { Argument, Answer } from './index.js';
import { WorkerLike, CallOptions } from './index.js';
import './types-callback-stub.js';
import './types-crossing.js';
import './types-move.js';
import './types-clearway-error.js';
import './types-credit.js';

/**
 * Where a build put a function that was passed to `offload()`.
 *
 * The build writes one task file per source file. The task file adds its functions to the registry of the worker that imports it.
 */
interface TaskPlace {
    /** Name of the task file in the registry. It contains a hash of the functions. */
    readonly file: string;
    /** Name of the function in the task file. */
    readonly name: string;
    /** URL of the task file: absolute, or relative to `base`. Undefined if this worker itself runs the task file. */
    readonly url: string | undefined;
    /** URL of the file that contains the call. */
    readonly base: string;
    /**
     * URL of the worker's file: absolute, or relative to `base`. Or a function that starts the worker. Undefined in Node, if the package is
     * not bundled.
     */
    readonly worker?: string | (() => WorkerLike) | undefined;
    /** Whether the function is a generator. */
    readonly stream?: boolean | undefined;
}

/** Options of offloaded calls: `offload.with(options)(fn)`. They mean the same as the options of a pool's calls. */
type OffloadOptions = Pick<CallOptions, "signal" | "timeoutMs" | "deadlineMs" | "key" | "priority" | "strict" | "window" | "retries">;
/**
 * Calls a function in a worker of the shared pool. Returns its result: a promise, or a stream if `fn` is a generator.
 *
 * `fn` is a function that is written in the call, or an imported one. Its arguments, the variables that it captures and its result cross by
 * structured clone. Memory in the result moves. An argument under `move()` moves. Captured variables are copied when the call is made; the
 * function may not assign to them.
 *
 * Rejects with the function's own error, with the signal's reason, or with a `ClearwayError`. Without the build plugin, rejects with
 * `invalid-argument`; for a generator, it throws that error.
 */
type OffloadCall = <Args extends unknown[], Result>(fn: (...args: Args) => Result, ...args: {
    [At in keyof Args]: Argument<Args[At]>;
}) => Answer<Result>;
/** The function `offload` with its options and the end of its pool. */
interface Offload extends OffloadCall {
    /** Returns a function that calls with these options. Throws `invalid-argument` for an unknown or invalid option. */
    with(options: OffloadOptions): OffloadCall;
    /**
     * Ends the shared pool: lets open calls finish and ends the workers. Calls that take longer than `timeoutMs` (default 30,000) fail with
     * `pool-closed`. With `dropWaiting`, calls that wait in the queue fail at once. A later call makes a new pool.
     */
    close(options?: {
        timeoutMs?: number;
        dropWaiting?: boolean;
    }): Promise<void>;
    /** Fails every open call with `pool-terminated` and ends every worker at once. A later call makes a new pool. */
    terminate(): Promise<void>;
}
/**
 * Runs a function in a worker: `await offload((n: number) => countPrimes(n), 1_000_000)`. Needs the build plugin of `clearway-build`.
 *
 * The first call starts a worker; idle workers end after 30 s and do not keep a Node process alive.
 */
declare const offload: Offload;
/** Written by the build plugin in the place of a function. An app does not call it. */
declare function builtTask(place: TaskPlace, ...captures: unknown[]): never;
/** Written by the build plugin for webpack, which replaces the URL by that of a built file. An app does not use it. */
declare class WorkerFile {
    readonly href: string;
    constructor(url: URL);
}

export { WorkerFile, builtTask, offload };
export type { Offload, OffloadCall, OffloadOptions, TaskPlace };
