// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.transport

/** The kinds of [CloseReason]; the same in every language. */
public enum class CloseCode(
    /** The code as every language writes it. */
    public val code: String
) {
    /** One of the ends closed it. */
    CLOSED("closed"),
    /** The other end is gone and did not say why: it exited, was killed, or the connection broke. */
    LOST("lost"),
    /** The other end did not keep to the protocol. */
    PROTOCOL("protocol"),
    /** A frame was over the limit. */
    TOO_LARGE("too-large"),
    /** The other end did not let this one in: origin, token, number of connections. */
    REFUSED("refused"),
    /** The other end did not answer in time. */
    TIMEOUT("timeout"),
    /** The host's own error; it is the cause. */
    FAILED("failed");

    public companion object {
        /** The kind of a code that the other end gave; one that is not known is [CLOSED]. */
        @JvmStatic public fun of(code: Any?): CloseCode = values().firstOrNull { it.code == code } ?: CLOSED
    }
}

/**
 * Why a transport is closed.
 *
 * @property message for people
 * @property detail what the host or the protocol says: an exit code, a WebSocket's close code; texts and numbers
 * @property cause what was thrown, at this end. It does not cross.
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
        /** The reason that `close()` gives unless told another. */
        @JvmField public val CLOSED: CloseReason = CloseReason(CloseCode.CLOSED, "closed")

        /** Of the other end's words as many are believed. */
        private const val MESSAGE_MAX = 1000
        private const val DETAILS_MAX = 16

        /**
         * Reads a reason from the other end, which may be hostile. Anything invalid becomes `closed` without a message.
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
