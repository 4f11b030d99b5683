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
 * Serves a listener by pushing through its sink; returns when it likes, and the stream goes on until the sink is ended.
 */
public fun interface EventSource {
    @Throws(Exception::class) public fun listen(args: Any?, sink: EventSink)
}

/** Serves a listener by an iterable, which is drawn on only when its next value may leave at once. */
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
     * Subscriptions: the other end begins a stream for the arguments. Nothing is sent beyond the window. A second
     * `listen` of the same channel ends the first, which fails with `cancelled`. Reading fails as a method's call does,
     * once; then the stream is at its end. What `T` says is not checked. Throws what the codec throws for the
     * arguments.
     */
    @JvmOverloads
    @Suppress("UNCHECKED_CAST") // As documented: it is the listener who knows what comes.
    public fun <T> listen(args: Any? = null, options: ListenOptions = ListenOptions()): EventStream<T> {
        val read = { message: Received -> valueOf(link.decodeReply(codec, message), name) as T }
        if (link.isPlain) return core.plainSubscriptions.listen(name, codec, args, options, read)
        return core.listens.listen(name, codec.encodeCall(MethodCall("listen", args)), options, read)
    }

    /**
     * Serves the channel's events: `source` is called for each listener, and pushes through its sink. What is pushed
     * beyond the listener's credit is queued, up to `capacity`; a full queue does what `whenFull` says. What the source
     * throws ends the stream. Closing the result ends it for later listeners. Throws IllegalArgumentException for a
     * second one.
     */
    @JvmOverloads
    public fun serve(source: EventSource, options: ServeOptions = ServeOptions()): AutoCloseable =
        serving(options) { sink, args ->
            source.listen(args, sink)
            sink.left()
        }

    /**
     * As [serve]: each of the iterable's values leaves when there is credit for it, so that nothing is dropped and no
     * thread waits for the listener; its end is the stream's. An iterator that is AutoCloseable is closed at the end.
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
