// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import java.util.concurrent.CompletableFuture

/** The result of a read: an event's value, which may be null, or the end of the stream. */
public class Event<T> private constructor(public val value: T?, public val isEnd: Boolean) {
    internal constructor(value: T) : this(value, false)

    internal companion object {
        fun <T> end(): Event<T> = Event(null, true)
    }
}

/**
 * A stream of events that is read one event at a time. The iterator blocks the calling thread until the next event
 * arrives. If the stream fails, the iterator throws the stream's error. If the thread is interrupted, the iterator
 * closes the stream and throws a [ChannelException] (`cancelled`). [close] ends the stream at both ends. Thread-safe:
 * threads that read the same stream share its events.
 */
public interface EventStream<T> : Iterable<T>, AutoCloseable {
    /** The total number of events that were dropped before the last event that was read. */
    public val dropped: Long

    /**
     * Reads the next event, or the end of the stream. If the stream failed, one read fails with its error, and later
     * reads return the end. Does not block. A read that was cancelled before its event arrived takes no event.
     */
    public fun read(): CompletableFuture<Event<T>>

    override fun close()
}

/** Sends a source's events to one listener. Thread-safe. Never blocks. */
public interface EventSink {
    /** The channel's name. */
    public val channel: String

    /**
     * Whether the stream is over. It is over when the listener has cancelled it, the source's last event was sent, or
     * the transport has closed.
     */
    public val isCancelled: Boolean

    /**
     * Runs `act` once when [isCancelled] becomes true, or at once if it is true already. `act` runs on the thread that
     * ends the stream, such as the thread that reads the transport. It must not block.
     */
    public fun onCancel(act: Runnable)

    /**
     * Sends an event. The event is encoded before this function returns. The future completes with true when the event
     * was sent or is in the queue. It completes with false if the event was dropped or the stream is over. If the queue
     * is full, the `whenFull` policy applies. The event waits for room, an event is dropped, or the future fails with
     * `queue-full`. An event that does not fit in any frame ends the stream with `too-large`. Throws the codec's
     * exceptions.
     */
    public fun send(event: Any?): CompletableFuture<Boolean>

    /** Ends the stream after the events that were sent before. */
    public fun end()

    /** Ends the stream with an error, after the events that were sent before. */
    public fun fail(error: Throwable)
}
