// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.transport

import clearway.channel.EndpointOptions

/**
 * Carries a channel's frames between two ends. It does not know their contents. The tests run the suite
 * `TransportContract` over each transport. The contract:
 * - **Order.** In each direction, frames arrive whole, once, in the order in which they were sent.
 * - **Nothing before [open].** Frames that arrive before [open] wait in the transport, within its back-pressure.
 * - **No calls from within.** [open], [send] and [close] never call the sink and never block. Any thread may call them,
 *   also the thread that runs the sink.
 * - **One at a time.** One thread at a time calls the sink. Each call happens before the next.
 * - **One end.** `closed` is called once, as the last call, whichever end closed. Frames sent before [close] still
 *   arrive.
 * - **Bounded.** A frame over [frameBytesMax] is never sent. If one arrives, the transport closes (`too-large`) before
 *   it allocates memory for the frame.
 */
public interface ChannelTransport {
    /** The transport's kind, for messages and statistics: "memory", "stdio", "websocket". */
    public val name: String

    /** The size of the largest frame in bytes, in both directions. */
    public val frameBytesMax: Int

    /**
     * Whether the other end is part of the same program, as a child process is. Errors of handlers cross to a trusted
     * end in full, with stack and causes. To other ends only their code and message cross, unless
     * [EndpointOptions.exposeErrors] is set. Default: false.
     */
    public val isTrusted: Boolean
        get() = false

    /** Starts delivery to the sink. Throws IllegalStateException if the transport is already open. */
    public fun open(sink: ChannelSink)

    /**
     * Sends a frame. Returns at once. Takes ownership of the frame's memory, even if it throws.
     *
     * Returns true while there is room. Returns false if too many bytes wait. The transport has still accepted the
     * frame, and calls [ChannelSink.drained] when there is room again. A sender should send nothing until then. A
     * closed transport drops the frame and returns false. Throws IllegalArgumentException for a frame over
     * [frameBytesMax], which is not sent.
     */
    public fun send(frame: ByteArray): Boolean

    /**
     * Stops delivery. The sink receives no frames until [resume], except those already read. Frames wait in the
     * transport, within its back-pressure. `drained` and `closed` are still called. Returns at once. Default: does
     * nothing. An endpoint then cannot slow down a peer that calls and never reads, and disconnects the peer sooner.
     */
    public fun pause() {}

    /** Continues delivery after [pause]. Returns at once. */
    public fun resume() {}

    /**
     * Closes the transport after all sent frames have left. The other end receives the reason if the transport can
     * carry it. A second reason is ignored. Frames that arrive after this call are dropped.
     */
    public fun close(reason: CloseReason)
}

/**
 * Receives a transport's frames and events. Its methods must not throw. A method that blocks holds up the transport.
 */
public interface ChannelSink {
    /** Receives a frame that arrived. The receiver owns the frame's memory. */
    public fun frame(frame: ByteArray)

    /** Called when there is room again after a `send` that returned false. */
    public fun drained()

    /** Called when the transport has closed. No method is called after this one. */
    public fun closed(reason: CloseReason)
}

/**
 * Limits of a transport's memory.
 *
 * @property frameBytesMax size of the largest frame in bytes, in both directions; default 64 MiB. A 4K image in RGBA
 *   takes 32 MiB.
 * @property windowBytes how many bytes may wait or be in flight before `send` returns false; default 1 MiB. A single
 *   larger frame can still be sent.
 * @throws IllegalArgumentException if a limit is below 1
 */
public class TransportLimits
@JvmOverloads
public constructor(public val frameBytesMax: Int = 64 shl 20, public val windowBytes: Int = 1 shl 20) {
    init {
        require(frameBytesMax >= 1) { "frameBytesMax must be 1 or more: frameBytesMax=$frameBytesMax" }
        require(windowBytes >= 1) { "windowBytes must be 1 or more: windowBytes=$windowBytes" }
    }

    /** Checks a frame for a transport's `send`. Throws IllegalArgumentException if the frame is too large. */
    public fun check(frame: ByteArray) {
        require(frame.size <= frameBytesMax) {
            "a frame of ${frame.size} bytes; the transport takes frameBytesMax=$frameBytesMax at most"
        }
    }
}

/** Returns a frame's size in a window. An empty frame counts, too. */
internal fun weight(frame: ByteArray): Long = frame.size + 8L
