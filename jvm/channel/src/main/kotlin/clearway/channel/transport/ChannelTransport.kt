// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.transport

import clearway.channel.EndpointOptions

/**
 * Carries the frames of a connection between two ends. A transport does not interpret the frames. The test suite
 * `TransportContract` checks this contract for each transport:
 * - **Order.** In each direction, frames arrive whole, once, in the order in which they were sent.
 * - **Nothing before [open].** Frames that arrive before [open] wait in the transport, within its back-pressure.
 * - **No re-entrant calls.** [open], [send] and [close] never call the sink and never block. Any thread may call them,
 *   also the thread that runs the sink.
 * - **One call at a time.** Only one thread at a time calls the sink. Each call happens before the next.
 * - **One `closed`.** `closed` is called once, as the last call, whichever end closed. Frames sent before [close] still
 *   arrive.
 * - **Bounded.** [send] refuses a frame over [frameBytesMax]. If such a frame arrives, the transport closes
 *   (`too-large`) before it allocates memory for the frame.
 */
public interface ChannelTransport {
    /** The kind of the transport, for messages and statistics: "memory", "stdio" or "websocket". */
    public val name: String

    /** The maximum size of a frame, in bytes, in both directions. */
    public val frameBytesMax: Int

    /**
     * Whether the other end is part of the same program, as a child process is. To a trusted end, errors of handlers
     * are sent in full, with stack and causes. To other ends, only the code, the message and the details that the
     * handler chose are sent, unless [EndpointOptions.exposeErrors] is set. The default is false.
     */
    public val isTrusted: Boolean
        get() = false

    /** Starts to deliver frames to the sink. Throws IllegalStateException if the transport is open already. */
    public fun open(sink: ChannelSink)

    /**
     * Sends a frame. Returns at once. Takes ownership of the frame's memory, even if this function throws.
     *
     * Returns true while the transport has room. Returns false if too many bytes wait. The transport has accepted the
     * frame in both cases. After false, the sender should send nothing until the transport calls [ChannelSink.drained].
     * A closed transport drops the frame and returns false. Throws IllegalArgumentException for a frame over
     * [frameBytesMax], which is not sent.
     */
    public fun send(frame: ByteArray): Boolean

    /**
     * Pauses the delivery of frames until [resume]. The sink may still receive frames that were already read, and calls
     * of `drained` and `closed`. Other frames wait in the transport, within its back-pressure. Returns at once. The
     * default implementation does nothing. The endpoint then cannot slow down a peer that calls and never reads, and
     * disconnects it sooner.
     */
    public fun pause() {}

    /** Continues the delivery after [pause]. Returns at once. */
    public fun resume() {}

    /**
     * Closes the transport after it has written all frames that were sent. The reason is sent to the other end if the
     * transport can carry it. Later calls have no effect. Frames that arrive after this call are dropped.
     */
    public fun close(reason: CloseReason)
}

/**
 * Receives a transport's frames and events. The methods must not throw. A method that blocks delays all later frames.
 */
public interface ChannelSink {
    /** Receives a frame. The sink owns the frame's memory. */
    public fun frame(frame: ByteArray)

    /** Called when the transport has room again after a `send` that returned false. */
    public fun drained()

    /** Called when the transport has closed. The transport makes no further calls. */
    public fun closed(reason: CloseReason)
}

/**
 * The limits of a transport's memory.
 *
 * @property frameBytesMax maximum size of a frame in bytes, in both directions. The default is 64 MiB. A 4K image in
 *   RGBA takes 32 MiB.
 * @property windowBytes number of bytes that may wait or be in flight before `send` returns false. The default is 1
 *   MiB. A single frame may be larger than that. A frame counts its size and some bytes for its objects.
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

/**
 * What an entry of a queue is charged in addition to its bytes, in bytes. An empty message takes memory, too: its
 * array, the object that describes it, and a place in the queue, which are 40 to 150 bytes on a 64-bit JVM. Without
 * this charge, a peer could fill a queue with millions of the smallest messages. The number is the same in every
 * language.
 */
internal const val OBJECT_BYTES = 128L

/** Returns the number of bytes that a frame counts in a window. */
internal fun weight(frame: ByteArray): Long = frame.size + OBJECT_BYTES

/** The kinds of [CloseReason]. They are the same in every language. */
public enum class CloseCode(
    /** The code, the same in every language. */
    public val code: String
) {
    /** One of the ends closed the transport. */
    CLOSED("closed"),
    /** The other end is gone and gave no reason. It exited, it was killed, or the connection broke. */
    LOST("lost"),
    /** The other end violated the protocol. */
    PROTOCOL("protocol"),
    /** A frame was larger than the limit. */
    TOO_LARGE("too-large"),
    /**
     * The other end refused the connection. Possible causes are the origin, the token and the number of connections.
     */
    REFUSED("refused"),
    /** The other end did not answer, or did not read, in time. */
    TIMEOUT("timeout"),
    /** An exception at one end ended the connection. At that end, it is the reason's cause. */
    FAILED("failed");

    public companion object {
        /** Returns the kind for a code that the other end sent. Returns [CLOSED] for an unknown code. */
        @JvmStatic public fun of(code: Any?): CloseCode = values().firstOrNull { it.code == code } ?: CLOSED
    }
}

/**
 * The reason why a transport has closed.
 *
 * @property message the reason as a message for people
 * @property detail texts and numbers that the transport adds, such as an exit code or a WebSocket's close code
 * @property cause the exception that was thrown at this end; it is never sent to the other end
 */
public class CloseReason
@JvmOverloads
public constructor(
    public val code: CloseCode,
    public val message: String,
    public val detail: Map<String, Any> = emptyMap(),
    public val cause: Throwable? = null,
) {
    override fun toString(): String = "${code.code}: $message"

    override fun equals(other: Any?): Boolean =
        other is CloseReason && code == other.code && message == other.message && detail == other.detail

    override fun hashCode(): Int = code.hashCode() * 31 + message.hashCode()

    public companion object {
        /** The reason of a `close()` without an argument. */
        @JvmField public val CLOSED: CloseReason = CloseReason(CloseCode.CLOSED, "closed")

        /** Maximum number of characters that are kept of the other end's message. */
        private const val MESSAGE_MAX = 1000
        /** Maximum number of entries that are kept of the other end's `detail`. */
        private const val DETAILS_MAX = 16

        /**
         * Reads a reason that the other end sent. The input may be hostile. An unknown code becomes `closed`, an
         * invalid message becomes "closed", and invalid details are left out.
         */
        @JvmStatic
        public fun read(given: Any?): CloseReason {
            val parts = given as? Map<*, *> ?: return CLOSED
            val message = (parts["message"] as? String)?.take(MESSAGE_MAX) ?: "closed"
            val detail = LinkedHashMap<String, Any>()
            for ((key, value) in (parts["detail"] as? Map<*, *>).orEmpty()) {
                if (detail.size == DETAILS_MAX) break
                if (key is String && (value is String || value is Number)) detail[key] = value
            }
            return CloseReason(CloseCode.of(parts["code"]), message, detail)
        }
    }
}
