// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

/** Describes the request that a handler serves. It is the second argument of each handler. Thread-safe. */
public interface HandlerContext {
    /** The channel's name. */
    public val channel: String

    /**
     * The deadline that the caller set for the call; null if there is none. It is in milliseconds from the start of the
     * call.
     */
    public val deadlineMs: Long?

    /**
     * Whether the call was cancelled, its time is over, or the transport has closed. No caller waits for the answer
     * then.
     */
    public val isCancelled: Boolean

    /**
     * Runs `act` once when [isCancelled] becomes true, or at once if it is true already. `act` runs on the thread that
     * cancels, such as the thread that reads the transport. It must not block.
     */
    public fun onCancel(act: Runnable)
}
