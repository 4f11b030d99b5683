import { NodeConnectionOptions, NatsConnection } from '@nats-io/transport-node';

/**
 * Where a module's calls and results are stored, and for how long. The first caller or worker process of a module creates its streams with
 * these options. Existing streams keep their own.
 */
interface DurableOptions {
    /** Where the servers store calls and results. With `memory`, a restart of the servers loses them. Default `file`. */
    storage?: "file" | "memory";
    /** Number of servers that store each call and result: 1, 3 or 5. More than 1 needs a cluster. Default 1. */
    replicas?: number;
    /**
     * Limits of the queue. A call above them fails with `queue-full`. Default of `bytes`: a quarter of what the servers can reserve, at most 1 GiB,
     * so that claims and outcomes have room. It also limits the stored values. Default of `items`: the limit of the servers.
     */
    queue?: {
        items?: number;
        bytes?: number;
    };
    /** Maximum age of a call that no worker process has taken, in milliseconds. Default 7 days. */
    callAgeMs?: number;
    /** Time for which outcomes are kept, in milliseconds. Default 1 hour. */
    resultAgeMs?: number;
    /** Time for which calls that were given up are kept, in milliseconds. Default 30 days. */
    deadAgeMs?: number;
    /** Time in which a second call with the same id counts as the same call, in milliseconds. Default 2 minutes. */
    dedupMs?: number;
    /**
     * Number of partitions of keys, at most 1,024. Calls of one partition run one after the other. Default 16.
     */
    partitions?: number;
    /** Size from which arguments and results are stored as objects, in bytes. Default: half of the servers' limit for a message. */
    objectBytesMin?: number;
    /** Maximum size of the arguments or of the result of one call, in bytes. Default 256 MiB. */
    valueBytesMax?: number;
}
/** Options of a worker process for durable calls. */
interface DurableServeOptions extends DurableOptions {
    /**
     * How often a call of an idempotent task may begin, at least 2, if its earlier runs ended without an outcome. Then it goes to the
     * dead-letter stream, and its caller's promise rejects with `dead-letter`. The first process that received the call counts as a run.
     * Default 5.
     */
    tries?: number;
    /**
     * Time after which the servers give a call to another worker process if they hear nothing of this one, in milliseconds. Worker processes
     * report three times as often. The first worker process of a module sets the time for all of them. Default 30,000.
     */
    ackWaitMs?: number;
    /** Longest time for which a request for calls waits at the servers, in milliseconds. Default 5,000. */
    pullMs?: number;
    /**
     * Beginnings of the subjects to which a caller may have its outcome published. Default `["clearway.callback."]`. This process publishes
     * there with its own permissions.
     */
    callbacks?: readonly string[];
}
/** Options of a caller of durable calls. */
interface DurableCallerOptions extends DurableOptions {
    /** Maximum number of calls that wait for an outcome. A further call fails with `queue-full`. Default 65,536. */
    openMax?: number;
    /**
     * Time after which a call that the servers have not confirmed is sent again, in milliseconds. At most half of `dedupMs`. Default 5,000, or a
     * quarter of `dedupMs` if that is less.
     */
    resendMs?: number;
}

/** How a pool or a server reaches NATS. */
interface ConnectOptions {
    /** Addresses of the NATS servers, such as `"nats://10.0.0.1:4222"`. Default `"127.0.0.1:4222"`. */
    servers?: string | readonly string[];
    /**
     * Options of the NATS client: `tls`, `token`, `user` and `pass`, `authenticator` (NKEYs, credentials), `inboxPrefix` and others. Unlike the
     * client's defaults, the connection is never given up: it reconnects until `close()`. And a server that is silent for 20 to 30 s counts as lost
     * (`pingInterval: 10_000, maxPingOut: 2`).
     */
    nats?: Omit<NodeConnectionOptions, "servers" | "name">;
    /** An open connection, instead of `servers` and `nats`. It stays open when the pool or the server closes. */
    connection?: NatsConnection;
    /** Name of the connection, for NATS's monitoring and for error messages. */
    name?: string;
}

export type { ConnectOptions as C, DurableCallerOptions as D, DurableOptions as a, DurableServeOptions as b };
