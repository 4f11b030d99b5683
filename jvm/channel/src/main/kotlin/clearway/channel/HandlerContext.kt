// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

/** A handler's second argument. Thread-safe. */
public interface HandlerContext {
    /** The channel's name. */
    public val channel: String

    /** How many milliseconds the caller had left when it sent the call; null without a deadline. */
    public val deadlineMs: Long?

    /**
     * Whether no caller waits for the answer any more: it was cancelled, its time is over, or the transport is closed.
     */
    public val isCancelled: Boolean

    /**
     * Runs it once when that happens, on the endpoint's own threads: it must not block. At once where it has happened.
     */
    public fun onCancel(act: Runnable)
}
