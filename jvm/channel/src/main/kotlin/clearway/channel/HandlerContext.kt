// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

/** A handler's second argument. Thread-safe. */
public interface HandlerContext {
    /** The channel's name. */
    public val channel: String

    /** The caller's deadline for the call, in milliseconds; null without a deadline. */
    public val deadlineMs: Long?

    /**
     * Whether no caller waits for the answer any longer: the call was cancelled, the call's time is over, or the
     * transport is closed.
     */
    public val isCancelled: Boolean

    /**
     * Runs `act` once when [isCancelled] becomes true, or at once if it is true. `act` runs on the thread that cancels,
     * such as the thread that reads the transport, and must not block.
     */
    public fun onCancel(act: Runnable)
}
