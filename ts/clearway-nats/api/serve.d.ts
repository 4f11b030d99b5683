/// <reference lib="esnext.disposable" />
import { C as ConnectOptions, b as DurableServeOptions } from './types-connect.js';
export { a as DurableOptions } from './types-connect.js';
import { PoolOptions, PoolStats, WorkerSource, SetupData } from 'clearway';
import { Extension } from 'clearway/channel';
import '@nats-io/transport-node';

/** How calls reach the workers. See {@link ServeOptions.modes}. */
type Mode = "request" | "durable";
/** Limits of a worker process. Each is charged to the caller whose message uses it, until the work has ended. */
interface ServeLimits {
    /** Maximum number of open calls. A cancelled call counts until its task has ended. Calls above it fail with `queue-full`. Default 16,384. */
    callsMax?: number;
    /** Maximum number of open calls of one caller. Calls above it fail with `queue-full`. Default 8,192. */
    callsPerCallerMax?: number;
    /** Maximum size of a message with a call or a stream's value, in bytes. Larger ones fail with `too-large`. Default 64 MiB. */
    messageBytesMax?: number;
    /**
     * Maximum bytes of one caller here: arguments of open calls, incomplete messages, and values and results that wait. Arguments and values
     * count with their messages and with about the memory that they take. Default 128 MiB.
     */
    bytesPerCallerMax?: number;
    /**
     * The same for all callers together. In `durable` mode: maximum bytes of arguments from the object store that this process has at once; further
     * calls wait here. A call with more bytes than this runs while no other one has such arguments. Default 512 MiB.
     */
    bytesMax?: number;
}
/** Options of `serveTasks()`. `Setup` is the parameter of the module's `setup`. */
interface ServeOptions<Setup = undefined> extends ConnectOptions {
    /** Name by which callers find the module. */
    module: string;
    /** Version of the module. Callers reach only workers of the version that they ask for. Default `"0"`. */
    version?: string;
    /**
     * The modes in which callers may reach the module. `durable` needs JetStream, which `nats-server -js` has. Default `["request"]`.
     */
    modes?: readonly Mode[];
    /** The tasks that may run more than once. In `durable` mode, only these are repeated after a worker has died. Default none. */
    idempotent?: readonly string[];
    /** Options of `durable` mode. */
    durable?: DurableServeOptions;
    /** Options of the local pool that runs the tasks. */
    pool?: PoolOptions<Setup>;
    /** The app's own types on the wire. The callers need the same ones. */
    extensions?: readonly Extension[];
    limits?: ServeLimits;
    /** Time without a sign of life after which a caller counts as gone, and its calls are cancelled, in milliseconds. Default 5,000. */
    silenceMs?: number;
    /**
     * Receives errors that belong to no call, such as a lost connection. Default: `process.emitWarning`. An error that it throws is an
     * uncaught error of the app, as with `pool()`: without a listener of `uncaughtException`, Node ends the process.
     */
    onError?(error: unknown): void;
}

/** Counters of a worker process's durable mode. */
interface DurableServeStats {
    /** Number of calls that this process has received and that have no outcome yet. */
    open: number;
    /** Number of deliveries, including repeated ones. */
    received: number;
    /** Number of outcomes that are stored. */
    answered: number;
    /** Number of deliveries of a call that this process already has or has ended. They did not begin it again. */
    duplicates: number;
    /** Number of calls that came again after a run without an outcome, and that began again. */
    again: number;
    /** Number of calls that ended with `interrupted`, because they may run only once. */
    interrupted: number;
    /** Number of calls that were given up. */
    deadLetters: number;
    /** Number of calls that were given back, to run again here or elsewhere. */
    givenBack: number;
    /** Number of messages that were no calls. They are in the dead-letter stream. */
    malformed: number;
    /** Number of outcomes that were not stored because the call had one. */
    repeated: number;
    /** Number of messages that were sent again because no confirmation came. */
    resent: number;
    /** Number of partitions that waited for the confirmation of a call that had left the queue, and that this process made go on. */
    unblocked: number;
    /** Bytes of objects for large values. */
    objects: {
        storedBytes: number;
        readBytes: number;
    };
}

/** Counters of a server in `request` mode. */
interface RequestStats {
    /** Number of open calls. */
    readonly open: number;
    /** Number of callers that the server knows. */
    readonly callers: number;
    /** Number of calls that were accepted. */
    readonly calls: number;
    /** Number of calls that were refused because of a limit. */
    readonly refused: number;
    /** Number of calls that were cancelled because their callers gave no sign of life. */
    readonly abandoned: number;
    /** Bytes of messages that wait here. */
    readonly bytes: number;
    /** Bytes of all messages from callers and to them. */
    readonly ledger: {
        readonly sentBytes: number;
        readonly receivedBytes: number;
    };
    /** Messages that were dropped. */
    readonly dropped: {
        /** Calls that name no subject to answer to, or one that a server must not answer to. */
        readonly unanswerable: number;
        /** Messages about a call that is not open. */
        readonly forNobody: number;
        /** Messages that break the protocol and belong to no call. */
        readonly malformed: number;
        /** Messages that were not sent, because too many waited for an interrupted connection. */
        readonly unsent: number;
    };
}

/** Counters of a server. */
interface ServerStats {
    /** Id of this worker process, as callers see it. */
    readonly workerId: string;
    /** The local pool. */
    readonly pool: PoolStats;
    /** The mode `request`. Undefined if the server does not have it. */
    readonly request: RequestStats | undefined;
    /** The mode `durable`. Undefined if the server does not have it. */
    readonly durable: DurableServeStats | undefined;
}
/** A worker process of a module. It keeps its process alive until `close()`. */
interface TaskServer extends AsyncDisposable {
    /** Returns counters. */
    stats(): ServerStats;
    /**
     * Takes no more calls, waits for the open ones, and closes the local pool and the connection. Calls that take longer than `timeoutMs`
     * (default 30,000) fail with `pool-closed`. `await using` calls `close()`.
     */
    close(options?: {
        timeoutMs?: number;
    }): Promise<void>;
    /** Settles when the server has closed, or when the connection has ended for good. Never rejects. */
    readonly closed: Promise<void>;
}
/** The type of the data for a module's `setup`. */
type SetupOf<Module> = SetupData<Module extends {
    readonly default: infer Tasks;
} ? Tasks : Module>;
/**
 * Serves the tasks of a module. `source` is the URL of the task module, as for `pool()`. Resolves when calls reach this process.
 *
 * Rejects with `invalid-argument` for an unknown or invalid option, with `connect-failed` if NATS cannot be reached, and with the error of
 * the local pool, such as `worker-start-failed`, if the module cannot be loaded.
 */
declare function serveTasks<Module>(source: WorkerSource, options: ServeOptions<SetupOf<Module>>): Promise<TaskServer>;

export { ConnectOptions, DurableServeOptions, serveTasks };
export type { DurableServeStats, Mode, RequestStats, ServeLimits, ServeOptions, ServerStats, TaskServer };
