// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.channel

/** A way to ask the other end, which answers with what it was sent. Of one thread. `close` ends the other end. */
public interface Caller : AutoCloseable {
    /** Bytes that were copied so far on their way, there and back, as the way itself counts them. */
    public val copiedBytes: Long

    /** Whether the answer comes later than the call, so that [send] can have several under way. */
    public val isLater: Boolean

    /**
     * Sends the row's value and gives what came back, of which bytes may be a view that the next call ends. Blocks for
     * as long as that takes.
     */
    public fun call(): Any?

    /** Begins the same, several at a time, where [isLater]. Does not wait for the answer. */
    public fun send(): Pending = error("the answer is there when the call returns: nothing is under way")
}

/** A call under way. */
public fun interface Pending {
    /** Blocks until the answer is there, and gives it. Once, and in the order of the calls. */
    public fun await(): Any?
}
