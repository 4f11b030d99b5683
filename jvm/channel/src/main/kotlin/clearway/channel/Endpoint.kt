// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import clearway.channel.codec.Codecs
import clearway.channel.codec.MessageCodec
import clearway.channel.codec.MethodCodec
import clearway.channel.endpoint.Core
import clearway.channel.endpoint.Handshake
import clearway.channel.transport.ChannelTransport
import clearway.channel.transport.CloseReason
import clearway.channel.wire.FRAME_BYTES_MIN
import java.util.concurrent.CompletableFuture

/**
 * One end of a connection. Both ends have the same rights and may be written in different languages. Creating a channel
 * sends nothing. Thread-safe. Only the iterator of an [EventStream] blocks the calling thread.
 *
 * Most futures complete on the thread that reads the transport. Other futures complete on the timer thread or on the
 * thread that made the call. Dependent stages that are not `async` run on the same thread and must not block. Handlers
 * run on [EndpointOptions.executor].
 */
public class Endpoint internal constructor(private val core: Core) : AutoCloseable {
    /** The wire that both ends agreed on: [Wire.CLEARWAY] or [Wire.PLAIN]. */
    public val wire: Wire
        get() = if (core.connection.isPlain) Wire.PLAIN else Wire.CLEARWAY

    /**
     * Completes with the reason when the transport has closed. Either end may have closed it, or the connection was
     * lost. Never fails. All readers share this future, so none can complete or cancel it. `orTimeout` and
     * `completeOnTimeout` return a future of their own.
     */
    public val closed: CompletableFuture<CloseReason>
        get() = core.closed

    /**
     * Returns a channel of messages with the standard codec. Throws IllegalArgumentException if the name is too long.
     */
    public fun messages(name: String): Messages<Any> = messages(name, Codecs.STANDARD)

    /** Returns a channel of messages with this codec. Throws IllegalArgumentException if the name is too long. */
    public fun <T> messages(name: String, codec: MessageCodec<T>): Messages<T> = Messages(core, name, codec)

    /** Returns a channel of methods. Throws IllegalArgumentException if the name is too long. */
    @JvmOverloads
    public fun methods(name: String, codec: MethodCodec = Codecs.STANDARD_METHODS): Methods = Methods(core, name, codec)

    /** Returns a channel of events. Throws IllegalArgumentException if the name is too long. */
    @JvmOverloads
    public fun events(name: String, codec: MethodCodec = Codecs.STANDARD_METHODS): Events = Events(core, name, codec)

    /** Returns counters of the endpoint's current work. */
    public fun stats(): EndpointStats = core.stats()

    /**
     * Closes the endpoint after its calls are answered. This end starts no more calls, posts or streams, ends the
     * streams that it serves, and refuses new ones with `no-handler`. It waits until its own calls are answered and
     * waiting posts have left, then refuses calls, too, and waits for those that run. After at most `timeoutMs`
     * milliseconds it closes the transport. Calls and streams that are still open fail with `transport-closed`. Does
     * not block; returns [closed].
     */
    @JvmOverloads
    public fun closeAsync(timeoutMs: Long = CLOSE_MS): CompletableFuture<CloseReason> {
        core.close(timeoutMs)
        return closed
    }

    /** Calls [closeAsync] with a timeout of 5 s. Does not wait. */
    override fun close() {
        core.close(CLOSE_MS)
    }

    /** Closes the transport at once. All calls and streams in both directions end with `transport-closed`. */
    @JvmOverloads public fun terminate(reason: CloseReason = CloseReason.CLOSED): Unit = core.terminate(reason)

    override fun toString(): String = "Endpoint(${core.connection.transportName}, $wire)"

    public companion object {
        private const val CLOSE_MS = 5_000L

        /**
         * Connects an endpoint over a transport. Both ends send a hello and agree on the wire. Takes ownership of the
         * transport, and closes it if the hello fails. Register handlers as soon as the future completes: messages that
         * arrive earlier wait, within limits. Cancelling the future closes the transport.
         *
         * The future fails with a [ChannelException]. Its code is `protocol` if the other end's first frame is not a
         * hello. The code is also `protocol` if the ends share no wire or version. The code is `deadline` if no hello
         * arrives within `helloMs`, and `transport-closed` if the transport closes first. Throws
         * IllegalArgumentException for a transport whose frames have less than 1024 bytes.
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
            val handshake = Handshake(transport, options)
            handshake.begin()
            return handshake.connected
        }
    }
}

/**
 * Counters of an endpoint's current work.
 *
 * @property transport the kind of the transport
 * @property calls the number of calls of this end that wait for their answers
 * @property handling the number of calls and posts of the other end that are not finished: the handler runs, or the
 *   answer is not sent
 * @property waitingBytes the number of bytes of answers and events that wait until the other end reads, with 128 bytes
 *   for each
 * @property listening the number of streams that this end listens to
 * @property serving the number of streams that this end serves
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
