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
 * A stream of events, read one at a time. The iterator blocks its thread until the next event arrives. If the stream
 * fails, the iterator throws the stream's error. If the thread is interrupted, the iterator closes the stream and
 * throws [ChannelException] (`cancelled`). [close] ends the stream at both ends. Thread-safe: threads that read the
 * same stream share its events.
 */
public interface EventStream<T> : Iterable<T>, AutoCloseable {
    /** The number of events dropped before the last event that was read. */
    public val dropped: Long

    /** Reads the next event, or the end. If the stream failed, one read fails with its error. Does not block. */
    public fun read(): CompletableFuture<Event<T>>

    override fun close()
}

/** Sends a source's events to one listener. Thread-safe. Does not block. */
public interface EventSink {
    /** The channel's name. */
    public val channel: String

    /** Whether the stream is over: the listener has cancelled, the stream has ended, or the transport is closed. */
    public val isCancelled: Boolean

    /**
     * Runs `act` once when [isCancelled] becomes true, or at once if it is true. `act` runs on the thread that ends the
     * stream, such as the thread that reads the transport, and must not block.
     */
    public fun onCancel(act: Runnable)

    /**
     * Sends an event. Encodes the event before it returns. The future completes with true when the event was sent or
     * waits for credit. It completes with false if the event was dropped or the stream is over. If the queue is full,
     * `whenFull` decides whether the event waits for room or the future fails with `queue-full`. Throws the codec's
     * exceptions.
     */
    public fun send(event: Any?): CompletableFuture<Boolean>

    /** Ends the stream after the events that were sent. */
    public fun end()

    /** Ends the stream with an error, after the events that were sent. */
    public fun fail(error: Throwable)
}
