// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import clearway.channel.transport.CloseReason

/** Kinds of failures of a call or a stream. The codes are those of spec/errors.md. */
public enum class ChannelError(
    /** The code as every language writes it. */
    public val code: String
) {
    /** The other end has no such method. On the plain wire it may also have no handler. */
    NOT_IMPLEMENTED("not-implemented"),
    /** The other end registered no handler within its time for early messages. */
    NO_HANDLER("no-handler"),
    /** The message arrived before its handler, and the other end's buffer of early messages was full. */
    DROPPED("dropped"),
    /** One of the ends has reached its limit of calls, posts or streams, or a queue of events is full. */
    QUEUE_FULL("queue-full"),
    /** The call or the stream was cancelled. */
    CANCELLED("cancelled"),
    /** No answer arrived within `deadlineMs`, by this end's clock. */
    DEADLINE("deadline"),
    /**
     * The handler ran longer than `timeoutMs`, by the other end's clock. On the plain wire: no answer arrived within
     * `timeoutMs`, by this end's clock.
     */
    TIMEOUT("timeout"),
    /** The transport is closed; see [ChannelException.reason]. */
    TRANSPORT_CLOSED("transport-closed"),
    /** The other end sent bytes that violate the protocol. */
    PROTOCOL("protocol"),
    /** A message is larger than the largest frame of the connection. */
    TOO_LARGE("too-large"),
}

/** A call, a post or a stream failed, but not with an error of the other end's code ([RemoteException]). */
public class ChannelException
@JvmOverloads
public constructor(
    public val error: ChannelError,
    message: String,
    /** Why the transport has closed; null if the failure has another reason. */
    public val reason: CloseReason? = null,
    cause: Throwable? = reason?.cause,
) : RuntimeException(message, cause) {
    /** The code as every language writes it. */
    public val code: String
        get() = error.code
}

/**
 * An error that the other end's handler threw. A handler throws this exception to choose the code and the details.
 * Another exception of Clearway keeps its code. Any other exception has the code "error". If the other end exposes
 * errors on Clearway's wire, the cause is the exception thrown there: a [RemoteCause] with class, message, stack and
 * causes.
 *
 * @property code the code that the handler chose; any text
 * @property details any value of the standard codec
 * @property channel the channel's name; empty unless the error came from the other end
 */
public class RemoteException
@JvmOverloads
public constructor(
    public val code: String,
    message: String,
    public val details: Any? = null,
    public val channel: String = "",
    cause: Throwable? = null,
) : RuntimeException(message, cause) {
    override fun toString(): String = "RemoteException: $code: $message"
}

/**
 * The exception that the other end threw, in any language.
 *
 * @property remoteName the exception's class at the other end
 * @property remoteStack the exception's stack at the other end, as text
 */
public class RemoteCause
internal constructor(
    public val remoteName: String,
    message: String,
    public val remoteStack: String,
    cause: Throwable?,
) : RuntimeException(message, cause, false, false) {
    // Stack traces print this text. The stack of the other end is the useful one.
    override fun toString(): String = if (remoteStack.isEmpty()) "$remoteName: $message" else remoteStack
}
