// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.transport

import clearway.channel.EndpointOptions

/**
 * Carries a channel's frames between two ends, without knowing their contents. The contract, which the suite
 * `TransportContract` of the tests runs over each transport:
 * - **Order.** Frames arrive whole, once, in the order in which they were sent, each way.
 * - **Nothing before [open].** Frames that come before it wait in the transport, within its backpressure.
 * - **Nothing from within.** [open], [send] and [close] never call the sink, never block, and may be called by any
 *   thread, the sink's own included.
 * - **One at a time.** The sink is called by one thread at a time; each call happens before the next.
 * - **One end.** `closed` is called once, last, whichever end closed. Frames sent before [close] still arrive.
 * - **Bounded.** A frame over [frameBytesMax] never leaves, and one that arrives closes the transport (`too-large`)
 *   before memory is allocated for it.
 */
public interface ChannelTransport {
    /** The transport's kind, for messages and statistics: "memory", "stdio", "websocket". */
    public val name: String

    /** Bytes of the largest frame, both ways. */
    public val frameBytesMax: Int

    /**
     * Whether the other end is part of the same program, as a child process is. A handler's error crosses to it whole,
     * with stack and causes. To other ends only its code and message cross, unless [EndpointOptions.exposeErrors] says
     * otherwise. Default: false.
     */
    public val isTrusted: Boolean
        get() = false

    /** Begins to deliver to the sink. Throws IllegalStateException the second time. */
    public fun open(sink: ChannelSink)

    /**
     * Takes a frame and returns at once. Takes ownership of its memory, even if it throws.
     *
     * True while there is room. False says that too much waits to leave: this frame was taken all the same,
     * [ChannelSink.drained] is called when there is room again, and until then a sender should hold back. A closed
     * transport drops the frame and returns false. Throws IllegalArgumentException for a frame over [frameBytesMax];
     * then nothing has left.
     */
    public fun send(frame: ByteArray): Boolean

    /**
     * Stops delivery: the sink receives no frames until [resume], except those already read. Frames wait in the
     * transport, within its back-pressure; `drained` and `closed` are still called. Returns at once. Default: does
     * nothing; an endpoint then cannot slow down a peer that calls and never reads, and disconnects it sooner.
     */
    public fun pause() {}

    /** Continues delivery after [pause]. Returns at once. */
    public fun resume() {}

    /**
     * Closes the transport after all sent frames have left. The other end receives the reason if the transport can
     * carry it. A second reason is ignored. Frames that arrive from now on are dropped.
     */
    public fun close(reason: CloseReason)
}

/**
 * Receives a transport's frames and events. Its methods must not throw; a method that blocks holds up the transport.
 */
public interface ChannelSink {
    /** A frame arrived. Its memory is the receiver's. */
    public fun frame(frame: ByteArray)

    /** There is room again, after a `send` that returned false. */
    public fun drained()

    /** The transport has closed. No method is called after this one. */
    public fun closed(reason: CloseReason)
}

/**
 * Limits of a transport's memory.
 *
 * @property frameBytesMax bytes of the largest frame, both ways; default 64 MiB: a 4K frame of RGBA is 32
 * @property windowBytes how many bytes may wait to leave, or be under way, before `send` returns false; default 1 MiB.
 *   One frame larger than this still travels.
 * @throws IllegalArgumentException where one is below 1
 */
public class TransportLimits
@JvmOverloads
public constructor(public val frameBytesMax: Int = 64 shl 20, public val windowBytes: Int = 1 shl 20) {
    init {
        require(frameBytesMax >= 1) { "frameBytesMax must be 1 or more: frameBytesMax=$frameBytesMax" }
        require(windowBytes >= 1) { "windowBytes must be 1 or more: windowBytes=$windowBytes" }
    }

    /** For a transport's `send`: throws what that throws. */
    public fun check(frame: ByteArray) {
        require(frame.size <= frameBytesMax) {
            "a frame of ${frame.size} bytes; the transport takes frameBytesMax=$frameBytesMax at most"
        }
    }
}

/** A frame's size in a window; an empty frame counts too. */
internal fun weight(frame: ByteArray): Long = frame.size + 8L
