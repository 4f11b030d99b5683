// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.channel

/** Calls a peer that echoes every message. One thread uses it. `close` ends the peer. */
public interface Caller : AutoCloseable {
    /** Number of bytes that the mechanism has copied so far, in both directions, by its own count. */
    public val copiedBytes: Long

    /** Whether the mechanism can start a call without waiting for its answer. If not, [send] throws. */
    public val isLater: Boolean

    /**
     * Sends the value of the measured [Row] and returns the echo. Blocks until the echo arrives. Echoed bytes may be a
     * view, which the next call invalidates.
     */
    public fun call(): Any?

    /**
     * Starts a call without waiting for its answer. Call it only if [isLater] is true. Several calls can be in flight.
     */
    public fun send(): Pending = error("the call has returned its answer: nothing is pending")
}

/** A call in flight. */
public fun interface Pending {
    /** Waits for the answer and returns it. Call it once, in the order of the calls. Blocks. */
    public fun await(): Any?
}
