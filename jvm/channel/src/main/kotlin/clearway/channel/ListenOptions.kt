// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import java.util.function.LongConsumer

/** Handling of an event that is pushed while the listener's queue is full. */
public enum class WhenFull {
    /** Sending waits. */
    WAIT,
    /** Sending fails with `queue-full`. */
    FAIL,
    /** The oldest that waits is lost. */
    DROP_OLDEST,
    /** This one is lost. */
    DROP_NEWEST,
}

/** How events are read. Not for several threads at once. */
public class ListenOptions {
    internal var windowItems = 16L
    internal var windowBytes = 1L shl 20
    internal var capacity = 0
    internal var whenFull: WhenFull? = null
    internal var onDrop: LongConsumer? = null

    /** How far the other end may run ahead of the reader; default 16 events and 1 MiB. */
    @JvmOverloads
    public fun window(items: Int, bytes: Int = 1 shl 20): ListenOptions = apply {
        windowItems = range("items", items, 1, Int.MAX_VALUE).toLong()
        windowBytes = range("bytes", bytes, 1, Int.MAX_VALUE).toLong()
    }

    /** How many pushed events wait at the other end when the window is used up; default what that end says, else 16. */
    public fun capacity(count: Int): ListenOptions = apply { capacity = range("capacity", count, 1, CAPACITY_MAX) }

    /** Handling of a full queue at the other end; default: the other end's choice, else [WhenFull.WAIT]. */
    public fun whenFull(policy: WhenFull): ListenOptions = apply { whenFull = policy }

    /** Called with the number of dropped events when the event behind them is read. It must not block. */
    public fun onDrop(told: LongConsumer): ListenOptions = apply { onDrop = told }

    public companion object {
        internal const val CAPACITY_MAX = 0xffff

        /**
         * For a reader that wants what is newest, such as frames to be drawn: of events that are pushed faster than
         * they are read all but the last are dropped; an iterable is asked for the next one only then.
         */
        @JvmStatic
        public fun latest(): ListenOptions = ListenOptions().window(1).capacity(1).whenFull(WhenFull.DROP_OLDEST)
    }
}

/** How pushed events are queued for a listener that does not say how itself. Not for several threads at once. */
public class ServeOptions {
    internal var capacity = 16
    internal var whenFull = WhenFull.WAIT

    /** How many wait when the listener's window is used up; 1 to 65,535, default 16. */
    public fun capacity(count: Int): ServeOptions = apply {
        capacity = range("capacity", count, 1, ListenOptions.CAPACITY_MAX)
    }

    /** Handling of a full queue; default [WhenFull.WAIT]. */
    public fun whenFull(policy: WhenFull): ServeOptions = apply { whenFull = policy }
}
