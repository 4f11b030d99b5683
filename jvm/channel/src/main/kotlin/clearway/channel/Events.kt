// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import clearway.channel.codec.MethodCall
import clearway.channel.codec.MethodCodec
import clearway.channel.codec.MethodReply
import clearway.channel.endpoint.AskedStream
import clearway.channel.endpoint.Core
import clearway.channel.endpoint.Handler
import clearway.channel.endpoint.PlainPublisher
import clearway.channel.endpoint.QueueLimits
import clearway.channel.endpoint.Received
import clearway.channel.endpoint.Served
import clearway.channel.endpoint.Serving
import clearway.channel.endpoint.Source
import clearway.channel.wire.Status

/**
 * Serves a listener by pushing events through its sink. `listen` may return at any time. The stream goes on until the
 * sink ends it.
 */
public fun interface EventSource {
    @Throws(Exception::class) public fun listen(args: Any?, sink: EventSink)
}

/** Serves a listener with an iterable. Its next value is read only when the value can be sent at once. */
public fun interface EventIterable {
    @Throws(Exception::class) public fun listen(args: Any?): Iterable<*>
}

/** A channel of events. Either end may listen and serve. */
public class Events
internal constructor(private val core: Core, public val name: String, private val codec: MethodCodec) {
    private val link = core.link

    init {
        link.checkName(name)
    }

    /**
     * Subscribes to the channel. The other end starts a stream for the arguments, and sends no more than the window. A
     * second `listen` on the same channel ends the first, which fails with `cancelled`. Reading fails with the errors
     * of a method call, once. Then the stream is at its end. The type `T` is not checked. Throws the codec's exceptions
     * for the arguments.
     */
    @JvmOverloads
    @Suppress("UNCHECKED_CAST") // As documented, `T` is not checked.
    public fun <T> listen(args: Any? = null, options: ListenOptions = ListenOptions()): EventStream<T> {
        val read = { message: Received -> valueOf(link.decodeReply(codec, message), name) as T }
        if (link.isPlain) return core.plainSubscriptions.listen(name, codec, args, options, read)
        return core.listens.listen(name, codec.encodeCall(MethodCall("listen", args)), options, read)
    }

    /**
     * Serves the channel's events. Calls `source` for each listener, which pushes events through its sink. Events
     * beyond the listener's credit are queued, up to `capacity`. `whenFull` is the policy for a full queue. An
     * exception of the source ends the stream. Closing the result stops serving new listeners; running streams go on.
     * Throws IllegalArgumentException if the channel is served already.
     */
    @JvmOverloads
    public fun serve(source: EventSource, options: ServeOptions = ServeOptions()): AutoCloseable =
        serving(options) { sink, args ->
            source.listen(args, sink)
            sink.left()
        }

    /**
     * Serves the channel's events from iterables; see [serve]. Each value is sent when there is credit for it. No event
     * is dropped, and no thread waits for the listener. The iterable's end ends the stream. Then its iterator is
     * closed, if it is AutoCloseable.
     */
    @JvmOverloads
    public fun serveEach(source: EventIterable, options: ServeOptions = ServeOptions()): AutoCloseable =
        serving(options) { sink, args -> sink.pump(source.listen(args).iterator()) }

    private fun serving(options: ServeOptions, open: (Source, Any?) -> Unit): AutoCloseable {
        val serving =
            object : Serving {
                override val limits = QueueLimits(options.capacity, options.whenFull)

                override fun encode(event: Any?) = codec.encodeReply(MethodReply.Success(event))

                override fun begin(source: Source, args: Received) {
                    link.lock.defer { start(source) { open(source, link.decodeCall(codec, args).args) } }
                }
            }
        if (link.isPlain) return core.router.handle(name, PlainPublisher(core, name, codec, serving))
        return core.router.handle(
            name,
            object : Handler {
                override fun request(served: Served) {
                    served.answer(Status.NOT_IMPLEMENTED)
                    served.ended()
                }

                override fun listen(asked: AskedStream) = asked.serve(serving)
            },
        )
    }

    private fun start(source: Source, act: () -> Unit) {
        try {
            link.settings.executor.execute {
                try {
                    act()
                } catch (thrown: Throwable) {
                    source.fail(thrown)
                    source.left()
                }
            }
        } catch (rejected: Throwable) {
            source.fail(rejected)
            source.left()
        }
    }
}
