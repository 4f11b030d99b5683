// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin

import clearway.plugin.host.Opening
import clearway.plugin.host.Port
import java.util.concurrent.CompletableFuture

/** One of a plugin's channels. Cheap; keep it for calls that share it. Safe for use from any thread. */
public class PluginChannel internal constructor(private val opening: Opening, private val port: Port) {
    public val name: String
        get() = port.name

    /**
     * Calls the handler on this thread, now: for handlers that run direct, which take microseconds; several threads may
     * be in it at once. Native memory is not copied, and may be written to by the handler; of a null answer nothing is
     * allocated. Throws what the handler answers with, `no-handler`, and `not-direct` for a handler that runs elsewhere
     * or answers later.
     */
    @JvmOverloads
    public fun call(message: Payload? = null, attachments: List<Memory> = emptyList()): Message =
        opening.call(port, message, attachments)

    /** The same with bytes of the heap. */
    public fun call(message: ByteArray): Message = call(Payload.of(message))

    /**
     * Sends to the handler where it runs: on the plugin's pool, on its serial queue, or here. Never blocks. The future
     * completes on the plugin's reading thread: what depends on it must not block there (use the `…Async` forms); of a
     * direct handler it is complete already. It fails with a [PluginException]; to cancel it, or a timeout of it, tells
     * the plugin that the caller no longer waits.
     */
    @JvmOverloads
    public fun send(message: Payload? = null, attachments: List<Memory> = emptyList()): CompletableFuture<Message> =
        opening.send(port, message, attachments)

    /** The same with bytes of the heap, which are copied before it returns. */
    public fun send(message: ByteArray): CompletableFuture<Message> = send(Payload.of(message))

    /**
     * The channel's events, with credit. Throws `no-handler` where nothing emits any; what the source refuses, the
     * stream fails with.
     */
    @JvmOverloads
    public fun listen(options: ListenOptions = ListenOptions()): PluginEvents {
        opening.open()
        return PluginEvents(port, options)
    }
}
