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
import clearway.plugin.host.Pending
import java.util.concurrent.CompletionException

/** The channels of a plugin that an endpoint serves. Add all channels before you call [PluginServer.serve]. */
public class ServedChannels {
    internal val messages = ArrayList<String>()
    internal val events = LinkedHashMap<String, MessageCodec<*>>()
    internal val pluginMessages = ArrayList<String>()
    internal val options = ListenOptions()

    /** Adds channels of messages or methods. They may use any codec, because their bytes are passed on unchanged. */
    public fun messages(vararg names: String): ServedChannels = apply { messages += names }

    /** Adds a channel of events. `codec` decodes the plugin's events; the endpoint then encodes the values again. */
    public fun events(name: String, codec: MessageCodec<*>): ServedChannels = apply { events[name] = codec }

    /** Adds channels on which the plugin itself sends messages. The endpoint's other end handles these messages. */
    public fun asks(vararg names: String): ServedChannels = apply { pluginMessages += names }

    /**
     * Sets how many events may wait in native code for each listener. Also sets the policy for further events. The
     * default is 64 events and `WAIT`.
     */
    public fun queue(items: Int, whenFull: WhenFull): ServedChannels = apply { options.items(items).whenFull(whenFull) }
}

/**
 * Serves a plugin at an endpoint of `clearway.channel`. The endpoint's other end may be in this process or another one.
 * It can call the plugin's channels, listen to its events and handle its messages. A null message of the plugin becomes
 * a message without bytes, and a message without bytes becomes a null message for the plugin. Bytes are copied once in
 * each direction, because a frame is in the heap. Native memory is released at once. Each listener occupies one thread
 * of the endpoint's executor.
 */
public object PluginServer {
    /**
     * Serves the channels. Closing the result stops serving them; the plugin and the endpoint stay open. Throws an
     * exception if a channel is served already.
     */
    @JvmStatic
    public fun serve(plugin: Plugin, endpoint: Endpoint, channels: ServedChannels): AutoCloseable {
        val served = ArrayList<AutoCloseable>()
        val end = AutoCloseable { for (each in served) each.close() }
        try {
            for (name in channels.messages) served += messages(plugin.channel(name), endpoint)
            for ((name, codec) in channels.events) served +=
                events(plugin.channel(name), codec, endpoint, channels.options)
            for (name in channels.pluginMessages) served += forwardToEndpoint(plugin, name, endpoint)
        } catch (problem: Throwable) {
            end.close()
            throw problem
        }
        return end
    }

    private fun messages(channel: PluginChannel, endpoint: Endpoint): AutoCloseable =
        endpoint.messages(channel.name, Codecs.BINARY).handleAsync { bytes, context ->
            val sent = channel.send(if (bytes == null || bytes.isEmpty()) null else Payload.of(bytes))
            // Until its handler has ended, a cancelled call counts against `callsMax`.
            context.onCancel { (sent as? Pending)?.unwanted() }
            sent.handle { answer, problem ->
                if (problem == null) Reply.of(answer.use { it.toByteArray() }) else refused(problem)
            }
        }

    /**
     * Converts a plugin's error to a reply. `not-implemented` becomes a reply without bytes, as the protocol of methods
     * requires. Throws any other error of the plugin as a [RemoteException].
     */
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

    /**
     * Sends events to a listener at the speed at which it reads. Other events wait in native code and in the stream's
     * queue, within their limits.
     */
    private fun pour(
        channel: PluginChannel,
        codec: MessageCodec<*>,
        options: ListenOptions,
        args: Any?,
        sink: EventSink,
    ) {
        try {
            val listenOptions = ListenOptions(options).arguments(Codecs.STANDARD.encode(args))
            channel.listen(listenOptions).use { events ->
                sink.onCancel { events.close() }
                for (event in events) {
                    val value = event.use { codec.decode(it.toByteArray() ?: ByteArray(0)) }
                    // The listener's policy may have dropped the event.
                    if (!sink.send(value).join() && sink.isCancelled) break
                }
            }
            sink.end()
        } catch (problem: PluginException) {
            sink.fail(remote(problem))
        } catch (failed: CompletionException) {
            sink.fail(failed.cause ?: failed)
        }
    }

    /** Forwards the messages that the plugin sends on a channel to the endpoint, and the answers to the plugin. */
    private fun forwardToEndpoint(plugin: Plugin, name: String, endpoint: Endpoint): AutoCloseable {
        val there = endpoint.messages(name, Codecs.BINARY)
        return plugin.handle(name) { message ->
            // A channel does not distinguish a null answer from an answer without bytes. The plugin receives null for
            // both.
            val answer = there.send(message.toByteArray() ?: ByteArray(0)).join().value
            if (answer == null || answer.isEmpty()) null else Payload.of(answer)
        }
    }
}
