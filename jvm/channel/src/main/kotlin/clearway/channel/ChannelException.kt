// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import clearway.channel.transport.CloseReason

/** How a call or a stream ends that has no result of its own; the codes of spec/errors.md. */
public enum class ChannelError(
    /** The code as every language writes it. */
    public val code: String
) {
    /** The other end has no such method; of a plain end, no handler as well. */
    NOT_IMPLEMENTED("not-implemented"),
    /** No handler was registered within the other end's time for early messages. */
    NO_HANDLER("no-handler"),
    /** It came before the handler, and more came than are kept. */
    DROPPED("dropped"),
    /** As many calls are under way as either end runs, or a queue of events is full. */
    QUEUE_FULL("queue-full"),
    /** Somebody gave it up. */
    CANCELLED("cancelled"),
    /** Not answered within `deadlineMs`, by this end's clock. */
    DEADLINE("deadline"),
    /** The handler ran longer than `timeoutMs`, by the other end's clock. */
    TIMEOUT("timeout"),
    /** The transport is closed; see [ChannelException.reason]. */
    TRANSPORT_CLOSED("transport-closed"),
    /** The other end sent something that is not part of the protocol. */
    PROTOCOL("protocol"),
    /** A message is larger than the way to the other end takes. */
    TOO_LARGE("too-large"),
}

/** A call or a stream ended, and it was neither a result nor the other end's own error ([RemoteException]). */
public class ChannelException
@JvmOverloads
public constructor(
    public val error: ChannelError,
    message: String,
    /** Why the transport is closed, where that is why. */
    public val reason: CloseReason? = null,
    cause: Throwable? = reason?.cause,
) : RuntimeException(message, cause) {
    /** The code as every language writes it. */
    public val code: String
        get() = error.code
}

/**
 * An error that the other end's handler threw. A handler throws one itself to choose code and details. For any other
 * exception the code is "error", or the exception's own if it is one of Clearway's. Between two ends of Clearway's wire
 * the cause is the exception thrown there, if the other end exposes errors: a [RemoteCause] with class, message, stack
 * and causes.
 *
 * @property code the handler's own; any text
 * @property details any value of the standard codec
 * @property channel the channel's name; empty where it has not crossed
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
 * The exception thrown at the other end, in any language.
 *
 * @property remoteName its class there
 * @property remoteStack its stack there, as text
 */
public class RemoteCause
internal constructor(
    public val remoteName: String,
    message: String,
    public val remoteStack: String,
    cause: Throwable?,
) : RuntimeException(message, cause, false, false) {
    // Printed where a stack is printed: that of the other end is the one that helps.
    override fun toString(): String = if (remoteStack.isEmpty()) "$remoteName: $message" else remoteStack
}
