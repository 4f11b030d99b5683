// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import java.util.concurrent.CancellationException
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionException

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
