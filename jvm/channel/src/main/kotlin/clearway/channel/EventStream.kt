// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import java.util.concurrent.CompletableFuture

/** The result of reading a stream: an event's value, which may be null, or the end. */
public class Event<T> private constructor(public val value: T?, public val isEnd: Boolean) {
    internal constructor(value: T) : this(value, false)

    internal companion object {
        fun <T> end(): Event<T> = Event(null, true)
    }
}

/**
 * A stream of events, read one at a time. The iterator blocks its thread until the next event is there, throws what the
 * stream fails with, and throws [ChannelException] (`cancelled`) where the thread is interrupted, which ends the
 * stream. [close] ends it, at the other end as well. Safe for many threads, which share its events.
 */
public interface EventStream<T> : Iterable<T>, AutoCloseable {
    /** How many events were dropped so far, before the one that was read last. */
    public val dropped: Long

    /** The next event, or the end; fails with what the stream fails with, once. Does not block. */
    public fun read(): CompletableFuture<Event<T>>

    override fun close()
}

/** Where a source of events sends them. Safe for many threads; does not block. */
public interface EventSink {
    /** The channel's name. */
    public val channel: String

    /** Whether the stream is over: the listener has cancelled, it has ended, or the transport is closed. */
    public val isCancelled: Boolean

    /**
     * Runs it once when that happens, on the endpoint's own threads: it must not block. At once where it has happened.
     */
    public fun onCancel(act: Runnable)

    /**
     * Sends an event, which is encoded before this returns. Completes with true when it is on its way or waits for
     * credit, false when it was dropped or the listener has left. When the queue is full, it waits for room, or fails
     * with `queue-full`, as `whenFull` says. Throws what the codec throws.
     */
    public fun send(event: Any?): CompletableFuture<Boolean>

    /** Ends the stream behind what was sent. */
    public fun end()

    /** Ends the stream with an error, behind what was sent. */
    public fun fail(error: Throwable)
}
