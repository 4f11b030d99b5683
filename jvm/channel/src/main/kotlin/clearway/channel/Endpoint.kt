// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import clearway.channel.codec.Codecs
import clearway.channel.codec.MessageCodec
import clearway.channel.codec.MethodCodec
import clearway.channel.endpoint.CONTROL_CHANNEL
import clearway.channel.endpoint.Core
import clearway.channel.endpoint.Greeting
import clearway.channel.endpoint.resizeMessage
import clearway.channel.transport.ChannelTransport
import clearway.channel.transport.CloseReason
import clearway.channel.wire.FRAME_BYTES_MIN
import java.util.concurrent.CompletableFuture

/**
 * One end of a connection. Both ends have the same rights, in any language. Channels have names and cost nothing to
 * make. Thread-safe; only [EventStream]'s iterator blocks.
 *
 * Futures complete on the thread that reads the transport. Dependent stages that are not `async` run there and must not
 * block. Handlers run on [EndpointOptions.executor].
 */
public class Endpoint internal constructor(private val core: Core) : AutoCloseable {
    /** The wire that both ends agreed on: [Wire.CLEARWAY] or [Wire.PLAIN]. */
    public val wire: Wire
        get() = if (core.link.isPlain) Wire.PLAIN else Wire.CLEARWAY

    /** Completes with the reason when the transport has closed, at either end. Never fails. */
    public val closed: CompletableFuture<CloseReason>
        get() = core.closed.thenApply { it }

    /** A channel of messages with the standard codec. Throws IllegalArgumentException for a name too long. */
    public fun messages(name: String): Messages<Any> = messages(name, Codecs.STANDARD)

    public fun <T> messages(name: String, codec: MessageCodec<T>): Messages<T> = Messages(core, name, codec)

    /** A channel of methods. Throws IllegalArgumentException for a name too long. */
    @JvmOverloads
    public fun methods(name: String, codec: MethodCodec = Codecs.STANDARD_METHODS): Methods = Methods(core, name, codec)

    /** A channel of events. Throws IllegalArgumentException for a name too long. */
    @JvmOverloads
    public fun events(name: String, codec: MethodCodec = Codecs.STANDARD_METHODS): Events = Events(core, name, codec)

    /** Sets how many early messages of a channel the other end keeps until that has a handler. Fails as a call does. */
    public fun resize(channel: String, count: Int): CompletableFuture<Void?> =
        core.call(CONTROL_CHANNEL, resizeMessage(channel, count), CallOptions.NONE) { null }

    /** Counts of the endpoint's current work. */
    public fun stats(): EndpointStats = core.stats()

    /**
     * Begins nothing new, ends the streams that it serves, lets calls both ways be answered, `timeoutMs` at most, then
     * closes the transport; what is left fails with `transport-closed`. Returns at once; the future is [closed].
     */
    @JvmOverloads
    public fun closeAsync(timeoutMs: Long = CLOSE_MS): CompletableFuture<CloseReason> {
        core.close(timeoutMs)
        return closed
    }

    /** [closeAsync], with 5 s for what is under way. Does not wait. */
    override fun close() {
        core.close(CLOSE_MS)
    }

    /** Closes at once. Everything under way, both ways, ends with `transport-closed`. */
    @JvmOverloads public fun terminate(reason: CloseReason = CloseReason.CLOSED): Unit = core.terminate(reason)

    override fun toString(): String = "Endpoint(${core.link.transportName}, $wire)"

    public companion object {
        private const val CLOSE_MS = 5_000L

        /**
         * Makes an endpoint of a transport: both ends say hello and agree on the wire. Takes ownership of the
         * transport, and closes it also when this fails. Register handlers as soon as it is there: what comes before
         * them waits, within bounds. Cancelling the future gives up.
         *
         * Fails with [ChannelException]: `protocol` when the other end speaks another wire or version, or says no
         * hello; `deadline` when it says nothing within `helloMs`; `transport-closed`. Throws IllegalArgumentException
         * for a transport whose frames are below 1024 bytes.
         */
        @JvmStatic
        @JvmOverloads
        public fun connect(
            transport: ChannelTransport,
            options: EndpointOptions = EndpointOptions(),
        ): CompletableFuture<Endpoint> {
            require(transport.frameBytesMax >= FRAME_BYTES_MIN) {
                "transport.frameBytesMax must be at least $FRAME_BYTES_MIN: frameBytesMax=${transport.frameBytesMax}"
            }
            val greeting = Greeting(transport, options)
            greeting.begin()
            return greeting.met
        }
    }
}

/**
 * Counts of an endpoint's current work.
 *
 * @property calls calls of this end that wait for their answers
 * @property handling calls of the other end whose handler has not ended or whose answer has not left
 * @property waitingBytes bytes of answers and of events that the other end has not read
 * @property listening streams that this end listens to
 * @property serving streams that this end serves
 */
public class EndpointStats
internal constructor(
    public val transport: String,
    public val calls: Int,
    public val handling: Int,
    public val waitingBytes: Long,
    public val listening: Int,
    public val serving: Int,
)
