// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import clearway.channel.transport.CloseReason
import java.util.concurrent.CancellationException
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionException

/** The ways in which a connect, a call, a post or a stream can fail. spec/errors.md defines the codes. */
public enum class ChannelError(
    /** The error code, the same in every language. */
    public val code: String
) {
    /** The other end has no such method. On the plain wire, it may also mean that the channel has no handler. */
    NOT_IMPLEMENTED("not-implemented"),
    /** The other end kept the message for its time limit, but registered no handler for the channel. */
    NO_HANDLER("no-handler"),
    /** The message arrived before its channel had a handler. The other end had no room left for early messages. */
    DROPPED("dropped"),
    /** One end is at its limit of calls, posts or streams, or an event queue is full. */
    QUEUE_FULL("queue-full"),
    /** The call or the stream was cancelled. */
    CANCELLED("cancelled"),
    /** No answer arrived within `deadlineMs`, or no hello arrived within `helloMs`. This end measures both times. */
    DEADLINE("deadline"),
    /**
     * The handler ran longer than `timeoutMs`, measured at the other end. On the plain wire, it means that no answer
     * arrived within `timeoutMs`, measured at this end.
     */
    TIMEOUT("timeout"),
    /** The transport is closed. [ChannelException.reason] has the reason. */
    TRANSPORT_CLOSED("transport-closed"),
    /**
     * The other end sent bytes that violate the protocol, or a value that does not have the expected type
     * ([UnexpectedValueException]). Or the hellos of the two ends have no version or wire in common.
     */
    PROTOCOL("protocol"),
    /** A message does not fit in the largest frame of the connection. */
    TOO_LARGE("too-large"),
}

/**
 * The failure of a connect, a call, a post or a stream. Errors that the other end's code threw are [RemoteException]s
 * instead.
 */
public open class ChannelException
@JvmOverloads
public constructor(
    public val error: ChannelError,
    message: String,
    /** The reason why the transport has closed; null if the failure has another cause. */
    public val reason: CloseReason? = null,
    cause: Throwable? = reason?.cause,
) : RuntimeException(message, cause) {
    /** The error code, the same in every language. */
    public val code: String
        get() = error.code
}

/**
 * The other end sent a value that does not have the type that the caller expects. Its code is `protocol`. Only the call
 * or the stream fails.
 *
 * @property channel the channel's name
 * @property method the method's name; empty for an event
 * @property path the value's place: `result` or `event`, then the way into lists and maps, such as `result[3]`
 * @property expected the expected type at this place
 * @property value the value at this place
 */
public class UnexpectedValueException
internal constructor(
    public val channel: String,
    public val method: String,
    public val path: String,
    public val expected: String,
    public val value: Any?,
) :
    ChannelException(
        ChannelError.PROTOCOL,
        "${if (method.isEmpty()) channel else "$channel.$method"}: $path must be $expected: $path=${shown(value)}",
    )

/**
 * An error that the other end's handler threw. A handler of this end throws this exception to choose the code and the
 * details that the caller gets.
 *
 * Other exceptions of Clearway that a handler throws keep their code. Any other exception is sent with the code
 * "error". On Clearway's wire, the other end may expose its errors in full. The cause is then the exception that was
 * thrown there: a [RemoteCause] with class name, message, stack and causes.
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
 * @property remoteName the exception's class name at the other end; on the plain wire, the error's code
 * @property remoteStack the exception's stack trace at the other end, as text
 */
public class RemoteCause
internal constructor(
    public val remoteName: String,
    message: String,
    public val remoteStack: String,
    cause: Throwable?,
) : RuntimeException(message, cause, false, false) {
    // Returns the stack trace of the other end, if there is one. A stack trace of this end prints its causes with
    // `toString`, so it contains the stack trace of the other end, too.
    override fun toString(): String = if (remoteStack.isEmpty()) "$remoteName: $message" else remoteStack
}

/** The ways in which a call can end. */
public enum class OutcomeKind {
    /** The call returned a result, which may be null. */
    RESULT,
    /** The other end's handler threw. [Outcome.error] is a [RemoteException]. */
    REMOTE_ERROR,
    NOT_IMPLEMENTED,
    NO_HANDLER,
    DROPPED,
    QUEUE_FULL,
    CANCELLED,
    DEADLINE,
    TIMEOUT,
    /** The transport is closed. */
    CLOSED,
    /** Any other failure, for example an answer that could not be decoded. */
    FAILED,
}

/** The result or the failure of a call, as a value. Callers need not catch exceptions and compare codes. */
public class Outcome<T>
private constructor(public val kind: OutcomeKind, public val value: T?, public val error: Throwable?) {
    override fun toString(): String = if (error == null) "Outcome($value)" else "Outcome($kind, ${error.message})"

    public companion object {
        /** Returns a future that completes with the outcome of the call. It never fails. */
        @JvmStatic
        public fun <T> of(call: CompletableFuture<T>): CompletableFuture<Outcome<T>> =
            call.handle { value, thrown ->
                val error = (thrown as? CompletionException)?.cause ?: thrown
                if (error == null) Outcome(OutcomeKind.RESULT, value, null) else Outcome(kindOf(error), null, error)
            }

        private fun kindOf(error: Throwable): OutcomeKind =
            when (error) {
                is RemoteException -> OutcomeKind.REMOTE_ERROR
                is CancellationException -> OutcomeKind.CANCELLED
                is ChannelException ->
                    when (error.error) {
                        ChannelError.NOT_IMPLEMENTED -> OutcomeKind.NOT_IMPLEMENTED
                        ChannelError.NO_HANDLER -> OutcomeKind.NO_HANDLER
                        ChannelError.DROPPED -> OutcomeKind.DROPPED
                        ChannelError.QUEUE_FULL -> OutcomeKind.QUEUE_FULL
                        ChannelError.CANCELLED -> OutcomeKind.CANCELLED
                        ChannelError.DEADLINE -> OutcomeKind.DEADLINE
                        ChannelError.TIMEOUT -> OutcomeKind.TIMEOUT
                        ChannelError.TRANSPORT_CLOSED -> OutcomeKind.CLOSED
                        ChannelError.PROTOCOL,
                        ChannelError.TOO_LARGE -> OutcomeKind.FAILED
                    }
                else -> OutcomeKind.FAILED
            }
    }
}
