// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.transport

/** The kinds of [CloseReason]. They are the same in every language. */
public enum class CloseCode(
    /** The code as every language writes it. */
    public val code: String
) {
    /** One of the ends closed the transport. */
    CLOSED("closed"),
    /** The other end is gone and gave no reason: it exited, it was killed, or the connection broke. */
    LOST("lost"),
    /** The other end violated the protocol. */
    PROTOCOL("protocol"),
    /** A frame was over the limit. */
    TOO_LARGE("too-large"),
    /** The other end refused the connection: origin, token, number of connections. */
    REFUSED("refused"),
    /** The other end did not answer or read in time. */
    TIMEOUT("timeout"),
    /** A host's own error. At that host, the reason's cause is the exception. */
    FAILED("failed");

    public companion object {
        /** Returns the kind for a code that the other end sent. An unknown code is [CLOSED]. */
        @JvmStatic public fun of(code: Any?): CloseCode = values().firstOrNull { it.code == code } ?: CLOSED
    }
}

/**
 * Why a transport is closed.
 *
 * @property message a message for people
 * @property detail texts and numbers of the host or the protocol, such as an exit code or a WebSocket's close code
 * @property cause the exception thrown at this end. It does not cross.
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
        /** The reason of `close()` if the caller gives none. */
        @JvmField public val CLOSED: CloseReason = CloseReason(CloseCode.CLOSED, "closed")

        /** Maximum number of characters that are kept of the other end's message. */
        private const val MESSAGE_MAX = 1000
        /** Maximum number of details that are kept. */
        private const val DETAILS_MAX = 16

        /**
         * Reads a reason from the other end, which may be hostile. An invalid code becomes `closed`, an invalid message
         * becomes "closed", and invalid details are left out.
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
