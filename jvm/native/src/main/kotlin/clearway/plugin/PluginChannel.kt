// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin

import clearway.plugin.host.NativeChannel
import clearway.plugin.host.PluginInstance
import java.util.concurrent.CompletableFuture

/**
 * A channel of a plugin. Create it once and use it for many calls. Creating one is cheap and sends nothing.
 * Thread-safe.
 */
public class PluginChannel
internal constructor(private val instance: PluginInstance, private val channel: NativeChannel) {
    public val name: String
        get() = channel.name

    /**
     * Runs the handler on the calling thread and returns its answer. Use this method for direct handlers only, which
     * should take microseconds. Several threads may run the handler at the same time. Native memory is not copied, and
     * the handler may write to it. A null answer allocates nothing. Throws the handler's error, `no-handler`, and
     * `not-direct` if the handler runs on another thread or answers later.
     */
    @JvmOverloads
    public fun call(message: Payload? = null, attachments: List<Memory> = emptyList()): Message =
        instance.call(channel, message, attachments)

    /** Runs the handler with a copy of the bytes. */
    public fun call(message: ByteArray): Message = call(Payload.of(message))

    /**
     * Sends a message to the handler. A direct handler runs on the calling thread. Other handlers run on the plugin's
     * thread pool or in its serial queue, and this method does not wait for them.
     *
     * The plugin's reading thread completes the future. Code chained to the future must not block that thread; use the
     * `…Async` forms. If the handler is direct, the future is complete when this method returns. The future fails with
     * a [PluginException]. If the future is cancelled or times out, the plugin is notified that the caller no longer
     * waits.
     */
    @JvmOverloads
    public fun send(message: Payload? = null, attachments: List<Memory> = emptyList()): CompletableFuture<Message> =
        instance.send(channel, message, attachments)

    /** Sends a copy of the bytes to the handler. */
    public fun send(message: ByteArray): CompletableFuture<Message> = send(Payload.of(message))

    /**
     * Listens to the channel's events, with credit. Throws `no-handler` if the plugin has no source for the channel. If
     * the source refuses the listener, the stream fails with the source's error.
     */
    @JvmOverloads
    public fun listen(options: ListenOptions = ListenOptions()): PluginEvents {
        instance.open()
        return PluginEvents(channel, options)
    }
}
