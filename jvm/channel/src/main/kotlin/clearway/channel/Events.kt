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
import java.util.concurrent.CompletionException
import java.util.concurrent.CompletionStage
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

/** Serves a listener with the values of an iterable. The next value is read only when it can be sent at once. */
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
     * the window allows. A second `listen` on the same channel ends the first stream, whose reader gets the error
     * `cancelled`. If the stream fails, one read fails with an error, which can be any error of a method call. Later
     * reads return the end. Throws the codec's exceptions for the arguments.
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
