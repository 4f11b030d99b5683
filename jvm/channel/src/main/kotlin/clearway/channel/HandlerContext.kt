// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

/** What a handler is given beside the message. Safe for many threads. */
public interface HandlerContext {
    /** The channel's name. */
    public val channel: String

    /** How many milliseconds the caller had left when it sent the call; null without a deadline. */
    public val deadlineMs: Long?

    /** Whether the caller has cancelled, its time is over, or the transport is closed: nobody waits for the answer. */
    public val isCancelled: Boolean

    /**
     * Runs it once when that happens, on the endpoint's own threads: it must not block. At once where it has happened.
     */
    public fun onCancel(act: Runnable)
}
