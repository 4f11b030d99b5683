// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import java.util.function.LongConsumer

/** The policy for an event that a source pushes while the listener's queue is full. */
public enum class WhenFull {
    /**
     * The event waits until the queue has room. If 1024 events already wait for room, the send fails with `queue-full`.
     * It also fails if an event waits already, and the events of all streams have reached
     * [replyBytesMax][EndpointOptions.replyBytesMax].
     */
    WAIT,
    /** The send fails with `queue-full`. */
    FAIL,
    /** The oldest event in the queue is dropped. */
    DROP_OLDEST,
    /** The new event is dropped. */
    DROP_NEWEST,
}

/** The options of a listener. Not thread-safe. */
public class ListenOptions {
    internal var windowItems = 16L
    internal var windowBytes = 1L shl 20
    internal var capacity = 0
    internal var whenFull: WhenFull? = null
    internal var onDrop: LongConsumer? = null

    /**
     * Sets how many events and bytes the other end may send ahead of the reader. The default is 16 events and 1 MiB.
     * The plain wire has no window.
     */
    @JvmOverloads
    public fun window(items: Int, bytes: Int = 1 shl 20): ListenOptions = apply {
        windowItems = range("items", items, 1, Int.MAX_VALUE).toLong()
        windowBytes = range("bytes", bytes, 1, Int.MAX_VALUE).toLong()
    }

    /**
     * Sets how many pushed events may wait at the other end while the window is used up. The default is the capacity
     * that the other end has set for the channel, or 16. On the plain wire, the events wait at this end, by default up
     * to 1024 events, and [EndpointOptions.replyBytesMax] limits their bytes.
     */
    public fun capacity(count: Int): ListenOptions = apply { capacity = range("capacity", count, 1, CAPACITY_MAX) }

    /**
     * Sets the policy for a full queue at the other end. The default is the policy that the other end has set for the
     * channel, or [WhenFull.WAIT]. On the plain wire, the policy applies to the queue at this end. If that queue is
     * full and the policy drops no events, the stream ends with `queue-full`.
     */
    public fun whenFull(policy: WhenFull): ListenOptions = apply { whenFull = policy }

    /**
     * Sets a listener for dropped events. When the next event is read, the listener receives the number of events that
     * were dropped before it. The listener must not block.
     */
    public fun onDrop(told: LongConsumer): ListenOptions = apply { onDrop = told }

    public companion object {
        internal const val CAPACITY_MAX = 0xffff

        /**
         * Returns options for a reader that wants only the newest event. An example is a video frame to draw. If a
         * source pushes events faster than they are read, all events but the newest are dropped. From an iterable, the
         * next value is read only after the reader has taken the previous one.
         */
        @JvmStatic
        public fun latest(): ListenOptions = ListenOptions().window(1).capacity(1).whenFull(WhenFull.DROP_OLDEST)
    }
}

/** The options of a served channel. They apply to listeners that do not set their own. Not thread-safe. */
public class ServeOptions {
    internal var capacity = 16
    internal var whenFull = WhenFull.WAIT

    /** Sets how many events may wait while the listener's window is used up: 1 to 65,535. The default is 16. */
    public fun capacity(count: Int): ServeOptions = apply {
        capacity = range("capacity", count, 1, ListenOptions.CAPACITY_MAX)
    }

    /** Sets the policy for a full queue. The default is [WhenFull.WAIT]. */
    public fun whenFull(policy: WhenFull): ServeOptions = apply { whenFull = policy }
}
