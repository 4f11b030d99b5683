// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import java.util.function.LongConsumer

/** The policy for an event that is pushed while the listener's queue is full. */
public enum class WhenFull {
    /** The event waits until the queue has room. */
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
     * Sets how far the other end may run ahead of the reader; default 16 events and 1 MiB. The plain wire has no
     * window.
     */
    @JvmOverloads
    public fun window(items: Int, bytes: Int = 1 shl 20): ListenOptions = apply {
        windowItems = range("items", items, 1, Int.MAX_VALUE).toLong()
        windowBytes = range("bytes", bytes, 1, Int.MAX_VALUE).toLong()
    }

    /**
     * Sets how many pushed events may wait at the other end when the window is used up. The default is the other end's
     * capacity, which is 16 unless set. On the plain wire, the events wait at this end; default 1024.
     */
    public fun capacity(count: Int): ListenOptions = apply { capacity = range("capacity", count, 1, CAPACITY_MAX) }

    /**
     * Sets the policy for a full queue at the other end. The default is the other end's policy, which is
     * [WhenFull.WAIT] unless set. On the plain wire, the policy applies to the queue at this end, and a policy that
     * drops nothing ends the stream with `queue-full`.
     */
    public fun whenFull(policy: WhenFull): ListenOptions = apply { whenFull = policy }

    /**
     * Sets a listener for drops. When the next event is read, the listener receives the number of dropped events. The
     * listener must not block.
     */
    public fun onDrop(told: LongConsumer): ListenOptions = apply { onDrop = told }

    public companion object {
        internal const val CAPACITY_MAX = 0xffff

        /**
         * Returns options for a reader that wants only the newest event, such as a frame to draw. If events are pushed
         * faster than they are read, all but the last are dropped. An iterable is read only when the reader has taken
         * the previous value.
         */
        @JvmStatic
        public fun latest(): ListenOptions = ListenOptions().window(1).capacity(1).whenFull(WhenFull.DROP_OLDEST)
    }
}

/** The options of a served channel, for listeners that set none. Not thread-safe. */
public class ServeOptions {
    internal var capacity = 16
    internal var whenFull = WhenFull.WAIT

    /** Sets how many events may wait when the listener's window is used up; 1 to 65,535, default 16. */
    public fun capacity(count: Int): ServeOptions = apply {
        capacity = range("capacity", count, 1, ListenOptions.CAPACITY_MAX)
    }

    /** Sets the policy for a full queue; default [WhenFull.WAIT]. */
    public fun whenFull(policy: WhenFull): ServeOptions = apply { whenFull = policy }
}
