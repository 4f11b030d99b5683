/** A frame with a value instead of bytes. The numbers have the meaning that they have in the frames of `wire/frame.ts`. */
interface ValueFrame {
    readonly op: number;
    readonly flags: number;
    readonly id: number;
    readonly a: number;
    readonly b: number;
    readonly c: number;
    /** The channel's name. Empty in frames without a name. */
    readonly name: string;
    /** The method of a call. */
    readonly method: string | undefined;
    readonly value: unknown;
    /** The size that the frame counts for windows, credit and `frameBytesMax`, in bytes: an estimate by its sender. */
    readonly bytes: number;
    /** Bytes of binary memory in the value that were copied, moved and shared. */
    readonly copied: number;
    readonly moved: number;
    readonly shared: number;
}
/**
 * Carries a channel's frames between two ends, without knowing their contents. The suite `test/channel/transports/contract.ts`
 * tests this contract with each transport:
 *
 * - **Order.** In each direction, every frame arrives whole and once. Frames arrive in the order in which they were sent.
 * - **Nothing before `open`.** Frames that arrive earlier wait in the transport, which applies its back-pressure.
 * - **No re-entry.** `open`, `send` and `close` never call the sink. The sink may call any of them.
 * - **Closed once.** The transport calls `closed` once, as its last call, whichever end has closed. Frames sent before `close()`
 *   still arrive.
 * - **Bounded.** The transport never sends a frame over `frameBytesMax`. If such a frame arrives, the transport closes with
 *   `too-large`. The transport itself allocates no memory for that frame.
 */
interface ChannelTransport {
    /** The transport's kind, for messages and statistics. Examples: "memory", "port", "stdio". */
    readonly name: string;
    /** Maximum size of a frame in both directions, in bytes. */
    readonly frameBytesMax: number;
    /**
     * Whether the transport takes attachments: memory that it moves to the other end next to the frame. If false, the frame
     * itself contains the attachments' bytes.
     */
    readonly moves: boolean;
    /**
     * Whether an attachment may be a view of a SharedArrayBuffer. Both ends then share that memory. If true, `moves` is true too.
     */
    readonly shares: boolean;
    /**
     * Whether the other end is part of the same program, such as a worker or a child process. A trusted end receives a handler's
     * error in full, with stack, properties and causes. Other ends receive only the error's code and message. The endpoint's
     * `exposeErrors` overrides this property. Default: false.
     */
    readonly trusted?: boolean;
    /**
     * Whether the transport can carry values by structured clone, next to frames of bytes. "preferred": an endpoint uses that unless its
     * option `codec` says otherwise. "possible": only if its option says so. Undefined: the transport carries only bytes. Default: undefined.
     */
    readonly clones?: "preferred" | "possible" | undefined;
    /**
     * Whether the other end takes values. It is known when the first frame arrives. The transport itself tells the other end whether its
     * sink has the method `value`.
     */
    readonly peerClones?: boolean;
    /** Starts to deliver frames to the sink. The endpoint calls it once. A second call throws `invalid-argument`. */
    open(sink: ChannelSink): void;
    /**
     * Takes a frame and returns at once. Takes ownership of `frame`, even if `send` throws: no code may write to the frame's
     * memory any more, and the transport may move a frame that fills its buffer. Takes ownership of `attachments`. Each
     * attachment is either a view of a whole buffer, which the transport moves, or a view of shared memory. No buffer occurs
     * twice in the list.
     *
     * Returns true while there is room. Returns false if too many bytes wait to be sent. The transport has taken the frame in
     * this case too, and the sender must send no more until `drained` is called. A closed transport drops the frame and returns
     * false. Throws `too-large` for a frame over the limit, and `invalid-argument` for attachments that the transport cannot
     * carry. If `send` throws, nothing was sent or moved.
     */
    send(frame: Uint8Array, attachments?: readonly Uint8Array[]): boolean;
    /**
     * Takes a frame with a value, in order with the frames of `send`, and returns what `send` returns. May be called only if `peerClones` is
     * true.
     *
     * With `transfer`, clones the value before it returns, and moves the listed objects. Without it, no code may change the value any more.
     * The transport may then post the frame later, in one message with other frames of the tick.
     *
     * Throws `too-large` for a frame over the limit, and `not-cloneable` for a value that structured clone refuses. If it throws, nothing was
     * sent. It throws what a getter in the value throws.
     */
    sendValue?(frame: ValueFrame, transfer?: readonly object[]): boolean;
    /**
     * Stops delivery until `resume` is called. The sink still receives frames that were already read. Other frames wait in the
     * transport, which applies its back-pressure. The transport still calls `drained` and `closed`. Without this method, an
     * endpoint cannot slow down a peer that calls and never reads the answers, so it disconnects such a peer sooner.
     */
    pause?(): void;
    /** Continues delivery after `pause`. */
    resume?(): void;
    /**
     * Closes the transport after it has written all frames that were sent. The other end receives the reason if the transport can
     * send it. A second call is ignored. The transport drops frames that arrive from now on.
     */
    close(reason?: CloseReason): void;
}
/** Receives a transport's frames and events. Its methods must not throw. */
interface ChannelSink {
    /**
     * Called when a frame has arrived. The sink owns the memory of the frame and of its attachments. The frame may share its
     * buffer with other frames. No two attachments share a buffer. Both ends use the buffer of an attachment in shared memory.
     */
    frame(frame: Uint8Array, attachments: readonly Uint8Array[]): void;
    /**
     * Called when a frame with a value has arrived. A sink without this method takes no values, and the transport tells the other end so. The
     * frame's fields have been checked; its value is whatever the other end sent.
     */
    value?(frame: ValueFrame): void;
    /** Called when there is room again, after a `send` that returned false. */
    drained(): void;
    /** Called when the transport has closed. The transport calls no method of the sink after this one. */
    closed(reason: CloseReason): void;
}
/** Why a transport closed. */
interface CloseReason {
    readonly code: CloseCode;
    /** A description for developers. */
    readonly message: string;
    /** Details from the host or the protocol, such as an exit code, a signal, or a WebSocket's close code. */
    readonly detail?: Readonly<Record<string, string | number>>;
    /** The error that was thrown at this end. It is not sent to the other end. */
    readonly cause?: unknown;
}
/** The kinds of {@link CloseReason}. */
type CloseCode = 
/** One of the two ends closed the transport. */
"closed"
/** The other end disappeared without a reason. It exited, it was killed, or the connection broke. */
 | "lost"
/** The other end broke the protocol. */
 | "protocol"
/** A frame was over the limit. */
 | "too-large"
/** The other end refused this one because of its origin, its token, or the number of connections. */
 | "refused"
/** The other end did not answer in time. */
 | "timeout"
/** The host or the transport itself failed. `cause` has the error, if there is one. */
 | "failed";
/** Memory limits of a transport. */
interface TransportLimits {
    /** Maximum size of a frame in both directions, in bytes. Default: 64 MiB. A 4K image in RGBA takes 32 MiB. */
    readonly frameBytesMax?: number;
    /**
     * Number of bytes that may wait or be in flight before `send` returns false. Default: 1 MiB, like the default of a task's
     * streams. A single larger frame is still sent.
     */
    readonly windowBytes?: number;
}

export type { ChannelTransport as C, TransportLimits as T, ValueFrame as V, ChannelSink as a, CloseCode as b, CloseReason as c };
