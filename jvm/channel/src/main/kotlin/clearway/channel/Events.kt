// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import clearway.channel.codec.MethodCall
import clearway.channel.codec.MethodCodec
import clearway.channel.codec.MethodReply
import clearway.channel.endpoint.Core
import clearway.channel.endpoint.Handler
import clearway.channel.endpoint.PlainPublisher
import clearway.channel.endpoint.QueueLimits
import clearway.channel.endpoint.Received
import clearway.channel.endpoint.RequestedStream
import clearway.channel.endpoint.Served
import clearway.channel.endpoint.Serving
import clearway.channel.endpoint.Source
import clearway.channel.wire.Status
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionException
import java.util.concurrent.CompletionStage
import java.util.function.LongConsumer
import kotlin.reflect.KType
import kotlin.reflect.typeOf

/**
 * Serves a listener by pushing events to a sink. `listen` may return before the stream ends. The stream continues until
 * the source ends it through the sink or the listener cancels it.
 */
public fun interface EventSource {
    @Throws(Exception::class) public fun listen(args: Any?, sink: EventSink)
}

/** Serves a listener as [EventSource] does, with code that runs on after `listen` has returned. */
public fun interface AsyncEventSource {
    /**
     * Returns a stage that completes when the source's code has ended. That also ends the stream, with the stage's
     * error if it has one. A listener that cancels counts against `callsMax` until then.
     */
    @Throws(Exception::class) public fun listen(args: Any?, sink: EventSink): CompletionStage<*>
}

/** Serves a listener with the values of an iterable. The next value is read when no event waits and there is room. */
public fun interface EventIterable {
    @Throws(Exception::class) public fun listen(args: Any?): Iterable<*>
}

/** A channel of events. Both ends may listen and serve. */
public class Events
internal constructor(private val core: Core, public val name: String, private val codec: MethodCodec) {
    private val connection = core.connection

    init {
        connection.checkName(name)
    }

    /**
     * Subscribes to the channel. The other end starts a stream for these arguments, and may send only as many events as
     * the window allows. Each `listen` starts a stream of its own, with its own window. On the plain wire, a second one
     * on a channel ends the first stream, whose reader gets the error `cancelled`. If the stream fails, one read fails
     * with an error, which can be any error of a method call. Later reads return the end. Throws the codec's exceptions
     * for the arguments.
     *
     * Each event is checked and converted as the result of [Methods.call] is. An event of another type ends the stream
     * at both ends, with [UnexpectedValueException].
     */
    @JvmSynthetic
    @JvmName("listenChecked")
    public inline fun <reified T> listen(args: Any? = null, options: ListenOptions = ListenOptions()): EventStream<T> =
        listenAs(typeOf<T>(), args, options)

    /**
     * Subscribes to the channel as [listen] does, for Java. Each event is checked and converted as the result of
     * [Methods.call] with a class is.
     */
    @JvmOverloads
    public fun <T> listen(type: Class<T>, args: Any?, options: ListenOptions = ListenOptions()): EventStream<T> =
        listenAs(ExpectedType.of(type), args, options)

    /** Subscribes to the channel as [listen] does. The type `T` is not checked, and numbers are not converted. */
    @JvmOverloads
    @JvmName("listen")
    public fun <T> listenUnchecked(args: Any? = null, options: ListenOptions = ListenOptions()): EventStream<T> =
        listenAs(null, args, options)

    @PublishedApi
    internal fun <T> listenAs(type: KType, args: Any?, options: ListenOptions): EventStream<T> =
        listenAs(ExpectedType.of(type), args, options)

    @Suppress("UNCHECKED_CAST") // `type` has checked the event, or the caller asked for an unchecked one.
    private fun <T> listenAs(type: ExpectedType?, args: Any?, options: ListenOptions): EventStream<T> {
        val read = { message: Received ->
            val value = valueOf(connection.decodeReply(codec, message), name)
            (if (type == null) value else type.convert(value, name, "")) as T
        }
        if (connection.isPlain) return core.plainSubscriptions.listen(name, codec, args, options, read)
        val encode = { connection.encodeCall(codec, MethodCall("listen", args)) }
        return core.listens.listen(name, encode, options, read)
    }

    /**
     * Serves the channel's events. Calls `source` for each listener, and the source pushes events to the sink. Events
     * wait in a queue while the listener has granted no credit, up to `capacity` events; `whenFull` is the policy for a
     * full queue. An exception of the source ends the stream. Closing the result stops serving new listeners, but
     * running streams continue. Throws IllegalArgumentException if the channel is served already.
     */
    @JvmOverloads
    public fun serve(source: EventSource, options: ServeOptions = ServeOptions()): AutoCloseable =
        serving(options) { sink, args ->
            source.listen(args, sink)
            sink.sourceEnded()
        }

    /** Serves the channel's events as [serve] does. A listener's stream ends when the source's stage completes. */
    @JvmOverloads
    public fun serveAsync(source: AsyncEventSource, options: ServeOptions = ServeOptions()): AutoCloseable =
        serving(options) { sink, args ->
            source.listen(args, sink).whenComplete { _, thrown ->
                if (thrown == null) sink.end() else sink.fail((thrown as? CompletionException)?.cause ?: thrown)
                sink.sourceEnded()
            }
        }

    /**
     * Serves the channel's events from iterables, as [serve] does from sources. Each value is read when the listener
     * has granted credit for it. No event is dropped, and no thread waits for the listener. The end of the iterable
     * ends the stream. If the iterator is AutoCloseable, it is closed at the end of the stream.
     */
    @JvmOverloads
    public fun serveEach(source: EventIterable, options: ServeOptions = ServeOptions()): AutoCloseable =
        serving(options) { sink, args -> sink.pump(source.listen(args).iterator()) }

    private fun serving(options: ServeOptions, open: (Source, Any?) -> Unit): AutoCloseable {
        val serving =
            object : Serving {
                override val limits = QueueLimits(options.capacity, options.whenFull)

                override fun encode(event: Any?) = connection.encodeReply(codec, MethodReply.Success(event))

                override fun begin(source: Source, args: Received) {
                    connection.lock.defer { start(source) { open(source, connection.decodeCall(codec, args).args) } }
                }
            }
        if (connection.isPlain) return core.router.handle(name, PlainPublisher(core, name, codec, serving))
        return core.router.handle(
            name,
            object : Handler {
                override fun request(served: Served) {
                    served.answer(Status.NOT_IMPLEMENTED)
                    served.ended()
                }

                override fun listen(stream: RequestedStream) = stream.serve(serving)
            },
        )
    }

    private fun start(source: Source, act: () -> Unit) {
        try {
            connection.settings.executor.execute {
                try {
                    act()
                } catch (thrown: Throwable) {
                    source.fail(thrown)
                    source.sourceEnded()
                }
            }
        } catch (rejected: Throwable) {
            source.fail(rejected)
            source.sourceEnded()
        }
    }
}

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
     * Whether the stream takes no more events: the listener has cancelled it, the source has ended it, an event was too
     * large, or the transport has closed.
     */
    public val isCancelled: Boolean

    /**
     * Runs `act` once when the stream is over: it was cancelled, its last event was sent, or the transport has closed.
     * Runs `act` at once if it is over already. `act` runs on the thread that ends the stream, such as the thread that
     * reads the transport. It must not block.
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
     * channel, or [WhenFull.WAIT]. `WAIT` and `FAIL` do not override a policy of the other end that drops. On the plain
     * wire, the policy applies to the queue at this end. If that queue is full and the policy drops no events, the
     * stream ends with `queue-full`.
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
