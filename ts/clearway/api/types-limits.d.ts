/**
 * What carries a channel's frames to the other end and back. It knows nothing of what is in them. The contract, which the
 * suite `test/channel/transports/contract.ts` runs over each transport:
 *
 * - **Order.** Frames arrive whole, once, in the order in which they were sent, each way.
 * - **Nothing before `open`.** Frames that come before it wait in the transport, within its backpressure.
 * - **Nothing from within.** `open`, `send` and `close` never call the sink; a sink may call any of them.
 * - **One end.** `closed` is told once, last, whoever closed. What was sent before `close()` still arrives.
 * - **Bounded.** A frame over `frameBytesMax` never leaves, and one that arrives closes the transport (`too-large`) before
 *   memory is allocated for it.
 */
interface ChannelTransport {
    /** What it is, for messages and statistics: "memory", "port", "stdio". */
    readonly name: string;
    /** Bytes of the largest frame, both ways. */
    readonly frameBytesMax: number;
    /** Whether it takes attachments: memory that changes owner beside the frame. Without, their bytes stand in the frame. */
    readonly moves: boolean;
    /** Whether an attachment may be a view of a SharedArrayBuffer, which both ends then have. Implies `moves`. */
    readonly shares: boolean;
    /**
     * Whether the other end is a part of the same program, as a worker and a child process are. What a handler throws crosses whole
     * there, with stack, properties and causes; elsewhere its code and message, unless the endpoint's `exposeErrors` says otherwise.
     * Left out: false.
     */
    readonly trusted?: boolean;
    /** Begins to deliver to the sink. Called once; throws `invalid-argument` the second time. */
    open(sink: ChannelSink): void;
    /**
     * Takes a frame and returns at once. Takes ownership of `frame`, also when it throws: nobody writes to its memory any more,
     * and the transport may move it where the frame is all of its buffer. Takes ownership of `attachments`: each shows the
     * whole of its buffer, which is moved, or is a view of shared memory; no buffer stands in the list twice.
     *
     * True while there is room. False says that too much waits to leave: this frame was taken all the same, `drained` is told
     * when there is room again, and until then a sender holds back. A closed transport drops the frame and returns false.
     * Throws `too-large`, and `invalid-argument` for attachments that it does not take; then nothing has left or moved.
     */
    send(frame: Uint8Array, attachments?: readonly Uint8Array[]): boolean;
    /**
     * Holds back what comes: the sink is given no frames until `resume`, but for those that were read already. They wait in the
     * transport, within its backpressure; `drained` and `closed` are still told. Without it, an endpoint cannot make a peer that calls
     * and never reads wait, and disconnects it sooner.
     */
    pause?(): void;
    resume?(): void;
    /**
     * Ends it, once what was sent has left. The other end is told the reason where there is a way to tell it; a reason given a
     * second time is ignored. Frames that arrive from now on are dropped.
     */
    close(reason?: CloseReason): void;
}
/** Who is told. None of it may throw. */
interface ChannelSink {
    /**
     * A frame arrived. Its memory and that of the attachments is the receiver's; the frame may share its buffer with other
     * frames, an attachment shares it with nobody (or with the other end, where it is shared memory).
     */
    frame(frame: Uint8Array, attachments: readonly Uint8Array[]): void;
    /** There is room again, after a `send` that returned false. */
    drained(): void;
    /** The end: nothing is told any more. */
    closed(reason: CloseReason): void;
}
/** Why a transport is closed. */
interface CloseReason {
    readonly code: CloseCode;
    /** For people. */
    readonly message: string;
    /** What the host or the protocol says: an exit code, a signal, a WebSocket's close code. */
    readonly detail?: Readonly<Record<string, string | number>>;
    /** What was thrown, at this end. It does not cross. */
    readonly cause?: unknown;
}
/** The kinds of {@link CloseReason}. */
type CloseCode = 
/** one of the ends closed it */
"closed"
/** the other end is gone and did not say why: it exited, was killed, or the connection broke */
 | "lost"
/** the other end did not keep to the protocol */
 | "protocol"
/** a frame was over the limit */
 | "too-large"
/** the other end did not let this one in: origin, token, number of connections */
 | "refused"
/** the other end did not answer in time */
 | "timeout"
/** the host's own error; it is the cause */
 | "failed";

/** What bounds a transport's memory. */
interface TransportLimits {
    /** Bytes of the largest frame, both ways; default 64 MiB: a 4K frame of RGBA is 32. */
    readonly frameBytesMax?: number;
    /**
     * How many bytes may wait to leave, or be under way, before `send` returns false; default 1 MiB, as in streams of tasks.
     * One frame larger than this still travels.
     */
    readonly windowBytes?: number;
}

export type { CloseReason as C, TransportLimits as T, ChannelTransport as a, ChannelSink as b, CloseCode as c };
