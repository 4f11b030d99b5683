// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.endpoint

import clearway.channel.ChannelError
import clearway.channel.ChannelException
import clearway.channel.EndpointOptions
import clearway.channel.RemoteException
import clearway.channel.codec.CodecError
import clearway.channel.codec.CodecException
import clearway.channel.codec.Codecs
import clearway.channel.codec.MessageCodec
import clearway.channel.codec.MethodCall
import clearway.channel.codec.MethodCodec
import clearway.channel.codec.MethodReply
import clearway.channel.codec.NOTHING
import clearway.channel.codec.OverLimit
import clearway.channel.codec.StandardMessageCodec
import clearway.channel.codec.StandardMethodCodec
import clearway.channel.codec.encode
import clearway.channel.codec.encodeCall
import clearway.channel.codec.encodeReply
import clearway.channel.codec.json.JsonMessageCodec
import clearway.channel.codec.json.JsonMethodCodec
import clearway.channel.transport.ChannelTransport
import clearway.channel.transport.CloseCode
import clearway.channel.transport.CloseReason
import clearway.channel.transport.OBJECT_BYTES
import clearway.channel.transport.uncaught
import clearway.channel.wire.FRAME_BYTES_MIN
import clearway.channel.wire.Flag
import clearway.channel.wire.Head
import clearway.channel.wire.Hello
import clearway.channel.wire.Wires
import clearway.channel.wire.partsOf
import clearway.channel.wire.writeError
import clearway.channel.wire.writeFrame
import java.nio.ByteBuffer
import java.util.concurrent.ConcurrentHashMap

/** A received message that is not decoded yet. */
internal class Received(
    val body: ByteBuffer,
    val flags: Int,
    val attachments: List<ByteBuffer> = emptyList(),
    attachedBytes: Long = 0,
    private val nameBytes: Int = 0,
) {
    /** The number of bytes of credit that the message uses. */
    val bytes: Long = body.remaining() + attachedBytes

    /**
     * The number of bytes that are charged to the other end while this end keeps the message (spec/channel.md): its
     * bytes with the channel's name, and its objects, which are the message and its attachments.
     */
    val keptBytes: Long
        get() = nameBytes + bytes + OBJECT_BYTES * (1 + attachments.size)
}

/**
 * The connection to the other end, after the hello. It sends frames, and has no knowledge of calls and streams. The
 * endpoint's lock guards the state.
 */
internal class Connection(
    private val transport: ChannelTransport,
    val settings: EndpointOptions,
    val lock: EndpointLock,
    wire: Int,
    there: Hello?,
    /**
     * Called with the reason when the connection ends and the transport may not report it. May be called more than
     * once, with or without the lock held.
     */
    private val ended: (CloseReason) -> Unit,
) {
    val isPlain = wire == Wires.PLAIN
    val transportName: String
        get() = transport.name

    /** The reason why the connection has ended; null while it is open. */
    var reason: CloseReason? = null
    /** Whether this end is closing. A closing end starts no more calls, posts or streams. */
    var closing = false
    /** Whether the transport applies back-pressure: a `send` returned false, and `drained` was not called since. */
    var congested = false
    /**
     * The bytes of the frame that made the transport congested. The other end may have to read all of them before there
     * is room.
     */
    var fillingBytes = 0
        private set

    /** Counts the bytes of events that wait for the other end, over all streams. */
    val queued = ByteBudget(settings.replyBytesMax.toLong())
    private val frameBytesMax = minOf(transport.frameBytesMax.toLong(), there?.frameBytesMax ?: Long.MAX_VALUE)
    // Leaves at least half of the smallest permitted frame for the parts of the frame other than the name.
    private val nameMax = minOf(settings.nameBytesMax.toLong(), frameBytesMax - FRAME_BYTES_MIN / 2)
    private val nameBytesMax = minOf(nameMax, there?.nameBytesMax ?: nameMax)
    /** The maximum size of a body, in bytes, in a frame with the longest name. */
    private val bodyBytesMax = (frameBytesMax - OVERHEAD - nameBytesMax).toInt()
    /** The maximum size of a body, in bytes, in a frame without a name. */
    private val messageBytesMax = (frameBytesMax - OVERHEAD).toInt()
    /** Whether errors are sent in full. */
    private val exposes = settings.exposeErrors ?: transport.isTrusted
    val valuesMax: Int = settings.valuesMax ?: if (transport.isTrusted) VALUES_MAX_TRUSTED else VALUES_MAX
    private val names = ConcurrentHashMap<String, ByteArray>()

    /** Whether this end may start no more calls, posts or streams. */
    val over: Boolean
        get() = closing || reason != null

    /** Throws IllegalArgumentException if a name is too long for this end. Any thread may call this function. */
    fun checkName(name: String) {
        val most = settings.nameBytesMax
        require(name.toByteArray(Charsets.UTF_8).size <= most) { "name must have at most $most bytes: name=$name" }
    }

    /**
     * Returns a channel's name in UTF-8, for sending. Throws IllegalArgumentException if the name is too long for the
     * other end. Any thread may call this function.
     */
    fun name(name: String): ByteArray {
        names[name]?.let {
            return it
        }
        val bytes = name.toByteArray(Charsets.UTF_8)
        require(bytes.size <= nameBytesMax) { "name must have at most $nameBytesMax bytes: name=$name" }
        if (names.size >= NAMES_KEPT) names.clear()
        names[name] = bytes
        return bytes
    }

    /**
     * Sends a frame that is known to fit. Never throws: an exception closes the connection. The caller holds the lock.
     */
    fun control(head: Head, name: ByteArray = NOTHING, body: ByteArray = NOTHING) {
        try {
            send(head, name, body)
        } catch (thrown: Throwable) {
            failed(thrown)
        }
    }

    /**
     * Returns the error for a body that does not fit in any frame. Returns null if the body fits in a frame without a
     * name.
     */
    fun tooLarge(body: ByteArray): ChannelException? = if (body.size > messageBytesMax) tooLarge(body.size) else null

    /** Returns the error for a value whose message does not fit in any frame. */
    fun tooLarge(over: OverLimit): ChannelException = tooLarge("more than ${over.bytesMax}")

    /**
     * Encodes a value to send. Throws [OverLimit] as soon as the message is too large for any frame. Throws the codec's
     * exceptions. Any thread may call this function.
     */
    fun <T> encode(codec: MessageCodec<T>, value: T?): ByteArray = codec.encode(value, messageBytesMax)

    fun encodeCall(codec: MethodCodec, call: MethodCall): ByteArray = codec.encodeCall(call, messageBytesMax)

    fun encodeReply(codec: MethodCodec, reply: MethodReply): ByteArray = codec.encodeReply(reply, messageBytesMax)

    /**
     * Encodes an error for a failed reply or the end of a stream, on Clearway's wire. Leaves out the parts that must
     * not be sent. Never throws. This function calls methods of the error, so the caller must not hold the lock, unless
     * the library created the error.
     */
    fun errorBody(thrown: Throwable): ByteArray = writeError(thrown, bodyBytesMax, exposes)

    /** Encodes an error for the plain wire, under the rules of [errorBody]. Throws the codec's exceptions. */
    fun envelope(codec: MethodCodec, thrown: Throwable, stacks: Boolean): ByteArray =
        writeEnvelope(codec, partsOf(thrown, exposes), stacks, bodyBytesMax)

    /**
     * Applies the application's redactor to an error that a handler or a source threw. Returns the error to send. Never
     * throws. The caller must not hold the lock.
     */
    fun redacted(thrown: Throwable, channel: String): Throwable {
        val redact = settings.redactError ?: return thrown
        return try {
            redact(thrown, channel) ?: hidden()
        } catch (broken: Throwable) {
            settings.report(broken, channel)
            hidden()
        }
    }

    private fun hidden() = RemoteException("error", "an error that is not told")

    /** Pauses the transport, if it supports pausing. The caller holds the lock. */
    fun pause(): Unit = callTransport(transport::pause)

    fun resume(): Unit = callTransport(transport::resume)

    private fun callTransport(what: () -> Unit) {
        if (reason != null) return
        try {
            what()
        } catch (thrown: Throwable) {
            failed(thrown)
        }
    }

    private fun tooLarge(bytes: Any) =
        ChannelException(
            ChannelError.TOO_LARGE,
            "a message of $bytes bytes; the way to the other end takes frames of $frameBytesMax at most",
        )

    /**
     * Sends a frame. Throws `too-large` before anything is sent. Drops the frame if the connection has ended. The
     * caller holds the lock.
     */
    fun send(head: Head, name: ByteArray = NOTHING, body: ByteArray = NOTHING) {
        if (reason != null) return
        val size = body.size.toLong() + name.size + OVERHEAD
        if (size > frameBytesMax) throw tooLarge(body.size)
        val frame = writeFrame(head, name, body)
        try {
            if (!transport.send(frame)) {
                // Control frames are sent also while the transport is congested. They are small.
                if (!congested) fillingBytes = frame.size
                congested = true
            }
        } catch (thrown: Throwable) {
            failed(thrown)
        }
    }

    /** Closes the connection, because the other end violated the protocol. */
    fun broken(what: String): Unit = close(CloseReason(CloseCode.PROTOCOL, what))

    /** Closes the transport. If the transport throws, reports the end to [ended]. */
    fun close(reason: CloseReason) {
        try {
            transport.close(reason)
        } catch (thrown: Throwable) {
            uncaught(thrown)
            ended(reason)
        }
    }

    /**
     * Closes the connection after the transport or code of this end threw. It is then unknown which frames were sent.
     */
    fun failed(thrown: Throwable) {
        val reason = CloseReason(CloseCode.FAILED, "the transport ${transport.name} failed", emptyMap(), thrown)
        lock.locked {
            lock.defer {
                close(reason)
                ended(reason)
            }
        }
    }

    /** Returns the error for an operation that fails because the transport has closed. */
    fun closedError(what: String): ChannelException =
        ChannelException(ChannelError.TRANSPORT_CLOSED, "$what: ${reason?.message ?: "closed"}", reason)

    /**
     * Decodes a received message. The ends may use different codecs, for example if one end only forwards messages. The
     * binary codec can decode a message of any other codec, and any other codec can decode a message of the binary
     * codec. Only the standard codecs read attachments beside a message. For all others, an application's own among
     * them, the attachments are put back into it.
     */
    @Suppress("UNCHECKED_CAST") // A standard codec is a `MessageCodec<Any>`.
    fun <T> decode(codec: MessageCodec<T>, message: Received): T? =
        when (codec) {
            is StandardMessageCodec -> codec.decode(body(message), codec.views, attached(message), valuesMax) as T?
            is JsonMessageCodec -> codec.decode(whole(message), valuesMax) as T?
            else -> codec.decodeOwned(whole(message))
        }

    fun decodeCall(codec: MethodCodec, message: Received): MethodCall =
        when (codec) {
            is StandardMethodCodec -> codec.decodeCall(body(message), codec.views, attached(message), valuesMax)
            is JsonMethodCodec -> codec.decodeCall(bytesOf(whole(message)), valuesMax)
            else -> codec.decodeCall(bytesOf(whole(message)))
        }

    fun decodeReply(codec: MethodCodec, message: Received): MethodReply =
        when (codec) {
            is StandardMethodCodec -> codec.decodeReply(body(message), codec.views, attached(message), valuesMax)
            is JsonMethodCodec -> codec.decodeReply(bytesOf(whole(message)), valuesMax)
            else -> codec.decodeReply(bytesOf(whole(message)))
        }

    /** Returns the bytes of a message with its attachments inside. Copies them once for each place that names them. */
    private fun whole(message: Received): ByteBuffer {
        val body = body(message)
        val attached = attached(message) ?: return body
        try {
            return ByteBuffer.wrap(Codecs.STANDARD.inlined(body, attached, valuesMax, transport.frameBytesMax))
        } catch (over: OverLimit) {
            throw CodecException(CodecError.TOO_LARGE, "lists of more than ${over.bytesMax} bytes in all", 0)
        }
    }

    private fun isWhole(message: Received) = message.flags and Flag.WHOLE != 0

    private fun body(message: Received): ByteBuffer {
        if (!isWhole(message)) return message.body
        return message.attachments.singleOrNull()
            ?: throw CodecException(CodecError.MALFORMED, "a message that is bytes alone", 0)
    }

    private fun attached(message: Received) = if (isWhole(message)) null else message.attachments.ifEmpty { null }

    private companion object {
        /**
         * Number of cached names above which the cache is cleared. Only code at this end adds names, so a peer cannot
         * fill the cache.
         */
        const val NAMES_KEPT = 1024

        /** The defaults of `valuesMax`. They are those of TypeScript's endpoints, where they were measured. */
        const val VALUES_MAX = 1 shl 20
        const val VALUES_MAX_TRUSTED = 1 shl 24

        /** Upper bound for the size of a frame's head and padding, in bytes. */
        const val OVERHEAD = 32L
    }
}

internal fun bytesOf(buffer: ByteBuffer): ByteArray = ByteArray(buffer.remaining()).also { buffer.duplicate().get(it) }
