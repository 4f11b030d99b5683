// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.transport

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
