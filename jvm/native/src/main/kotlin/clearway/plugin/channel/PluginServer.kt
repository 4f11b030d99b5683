// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin.channel

import clearway.channel.Endpoint
import clearway.channel.EventSink
import clearway.channel.RemoteException
import clearway.channel.Reply
import clearway.channel.codec.Codecs
import clearway.channel.codec.MessageCodec
import clearway.plugin.ListenOptions
import clearway.plugin.Payload
import clearway.plugin.Plugin
import clearway.plugin.PluginChannel
import clearway.plugin.PluginErrorCode
import clearway.plugin.PluginException
import clearway.plugin.WhenFull
import java.util.concurrent.CompletionException

/** Which of a plugin's channels an endpoint serves. Filled before it is given to [PluginServer.serve]. */
public class ServedChannels {
    internal val messages = ArrayList<String>()
    internal val events = LinkedHashMap<String, MessageCodec<*>>()
    internal val asks = ArrayList<String>()
    internal val options = ListenOptions()

    /** Channels of messages and methods, whatever their codec: their bytes go through as they are. */
    public fun messages(vararg names: String): ServedChannels = apply { messages += names }

    /** A channel of events, with the codec of its events: they are decoded here, and encoded for the endpoint. */
    public fun events(name: String, codec: MessageCodec<*>): ServedChannels = apply { events[name] = codec }

    /** Channels of the plugin's own messages, which the endpoint's other end handles. */
    public fun asks(vararg names: String): ServedChannels = apply { asks += names }

    /** How many events may wait in native code for a listener, and what is lost beyond. Default 64, `WAIT`. */
    public fun queue(items: Int, whenFull: WhenFull): ServedChannels = apply { options.items(items).whenFull(whenFull) }
}

/**
 * Serves a plugin at an endpoint of `clearway.channel`: the endpoint's other end, in this process or another, calls the
 * plugin's channels, listens to its events and handles its messages. A null message is one without bytes. Bytes are
 * copied once each way, because a frame is in the heap; native memory is free at once. A listener holds one of the
 * endpoint's threads.
 */
public object PluginServer {
    /** Closing the result ends it; the plugin and the endpoint stay open. Throws where a channel is served already. */
    @JvmStatic
    public fun serve(plugin: Plugin, endpoint: Endpoint, channels: ServedChannels): AutoCloseable {
        val served = ArrayList<AutoCloseable>()
        val end = AutoCloseable { for (each in served) each.close() }
        try {
            for (name in channels.messages) served += messages(plugin.channel(name), endpoint)
            for ((name, codec) in channels.events) served +=
                events(plugin.channel(name), codec, endpoint, channels.options)
            for (name in channels.asks) served += asks(plugin, name, endpoint)
        } catch (problem: RuntimeException) {
            end.close()
            throw problem
        }
        return end
    }

    private fun messages(channel: PluginChannel, endpoint: Endpoint): AutoCloseable =
        endpoint.messages(channel.name, Codecs.BINARY).handleAsync { bytes, context ->
            val sent = channel.send(if (bytes == null || bytes.isEmpty()) null else Payload.of(bytes))
            context.onCancel { sent.cancel(true) }
            sent.handle { answer, problem ->
                if (problem == null) Reply.of(answer.use { it.toByteArray() }) else refused(problem)
            }
        }

    /** No bytes at all are how a method's reply says that it is not there. */
    private fun refused(problem: Throwable): Reply<ByteArray> {
        val cause = if (problem is CompletionException) problem.cause else problem
        if (cause !is PluginException) throw problem
        if (cause.code == PluginErrorCode.NOT_IMPLEMENTED) return Reply.empty()
        throw remote(cause)
    }

    private fun remote(problem: PluginException) =
        RemoteException(problem.code.code, problem.message.orEmpty(), cause = problem)

    private fun events(channel: PluginChannel, codec: MessageCodec<*>, endpoint: Endpoint, options: ListenOptions) =
        endpoint.events(channel.name).serve({ args, sink -> pour(channel, codec, options, args, sink) })

    /** Reads as fast as the listener does: what waits meanwhile waits in native code, within its bounds. */
    private fun pour(
        channel: PluginChannel,
        codec: MessageCodec<*>,
        options: ListenOptions,
        args: Any?,
        sink: EventSink,
    ) {
        try {
            val told = ListenOptions(options).arguments(Codecs.STANDARD.encode(args))
            channel.listen(told).use { events ->
                sink.onCancel { events.close() }
                for (event in events) {
                    val value = event.use { codec.decode(it.toByteArray() ?: ByteArray(0)) }
                    if (!sink.send(value).join()) break
                }
            }
            sink.end()
        } catch (problem: PluginException) {
            sink.fail(remote(problem))
        }
    }

    private fun asks(plugin: Plugin, name: String, endpoint: Endpoint): AutoCloseable {
        val there = endpoint.messages(name, Codecs.BINARY)
        return plugin.handle(name) { message ->
            there.send(message.toByteArray() ?: ByteArray(0)).join().value?.let { Payload.of(it) }
        }
    }
}
