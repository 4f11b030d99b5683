// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.channel

/** A way to call a peer that echoes what it receives. For one thread. `close` ends the peer. */
public interface Caller : AutoCloseable {
    /** Bytes copied so far, in both directions, as the way itself counts them. */
    public val copiedBytes: Long

    /** Whether the answer comes later than the call, so that [send] can have several calls in flight. */
    public val isLater: Boolean

    /**
     * Sends the row's value and returns the echo. Echoed bytes may be a view that the next call invalidates. Blocks
     * until the echo arrives.
     */
    public fun call(): Any?

    /** Starts a call without waiting for its answer, if [isLater]. Several can be in flight. */
    public fun send(): Pending = error("the call has returned its answer: nothing is pending")
}

/** A call in flight. */
public fun interface Pending {
    /** Blocks until the answer arrives, and returns it. Call it once, in the order of the calls. */
    public fun await(): Any?
}
