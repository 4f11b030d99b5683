// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.endpoint

import clearway.channel.codec.MethodCodec
import clearway.channel.codec.MethodReply
import clearway.channel.codec.NOTHING
import clearway.channel.codec.OverLimit
import clearway.channel.codec.encodeReply
import clearway.channel.wire.ErrorParts
import clearway.channel.wire.Head
import clearway.channel.wire.Op
import clearway.channel.wire.Status
import java.nio.ByteBuffer

/**
 * Serves a channel's events on the plain wire (spec/wire.md). The other end calls the methods `listen` and `cancel`. A
 * channel has at most one stream, and there is no credit. Events wait in a queue while the transport has no room.
 */
internal class PlainPublisher(
    private val core: Core,
    private val channel: String,
    private val codec: MethodCodec,
    private val serving: Serving,
) : Handler {
    private val connection = core.connection
    private val done = codec.encodeReply(MethodReply.Success(null))
    private var active: Source? = null

    override fun request(served: Served) {
        try {
            answer(served)
        } catch (thrown: Throwable) {
            connection.lock.defer { served.fail(thrown) { connection.envelope(codec, it, connection.settings.stacks) } }
        } finally {
            served.ended()
        }
    }

    private fun answer(served: Served) {
        val method = connection.decodeCall(codec, served.message).method
        if (method == "listen" && core.plainRunning.size >= connection.settings.callsMax) served.answer(Status.BUSY)
        else if (method == "listen") {
            active?.cancel()
            // The answer must be sent before the first event.
            served.answer(Status.DONE, done)
            open(served.message)
        } else if (method == "cancel") {
            val running = active
            if (running == null) {
                val none = MethodReply.Failure("error", "No active stream to cancel")
                return served.answer(Status.DONE, codec.encodeReply(none))
            }
            running.cancel()
            served.answer(Status.DONE, done)
        } else served.answer(Status.NOT_IMPLEMENTED)
    }

    private fun open(args: Received) {
        val wire =
            object : SourceWire {
                override fun encode(event: Any?) = serving.encode(event)

                override fun event(message: ByteArray, dropped: Long) =
                    connection.send(Head(Op.MESSAGE), name = connection.name(channel), body = message)

                override fun error(thrown: Throwable): ByteArray =
                    try {
                        connection.envelope(codec, connection.redacted(thrown, channel), connection.settings.stacks)
                    } catch (unwritten: Throwable) {
                        connection.settings.report(unwritten, channel)
                        NOTHING
                    }

                override fun end(status: Int, error: ByteArray, dropped: Long) {
                    val name =
                        try {
                            connection.name(channel)
                        } catch (_: IllegalArgumentException) {
                            return // No peer can listen to a channel whose name is too long for it.
                        }
                    if (error.isNotEmpty()) connection.control(Head(Op.MESSAGE), name = name, body = error)
                    connection.control(Head(Op.MESSAGE), name = name)
                }
            }
        val source =
            Source(connection, channel, serving.limits, wire) { ended ->
                core.plainSources.remove(ended)
                if (active === ended) active = null
            }
        source.onSourceEnded = { core.plainRunning.remove(source) }
        core.plainRunning.add(source)
        source.queue.credit.grant(UNBOUNDED, UNBOUNDED)
        core.plainSources.add(source)
        active = source
        serving.begin(source, Received(args.body.duplicate(), args.flags, emptyList<ByteBuffer>()))
    }
}

/**
 * Encodes an error as an envelope of the plain wire, in at most `bytesMax` bytes. Leaves out details that the codec
 * cannot encode. If the envelope is too large, keeps only the code and the beginning of the message. Throws the codec's
 * exceptions.
 */
internal fun writeEnvelope(codec: MethodCodec, parts: ErrorParts, stacks: Boolean, bytesMax: Int): ByteArray {
    val stack = if (stacks) parts.stack else null
    fun encode(from: ErrorParts, details: Any?, stack: String?) =
        codec.encodeReply(MethodReply.Failure(from.code, from.message, details, stack), bytesMax)
    return try {
        try {
            encode(parts, parts.details, stack)
        } catch (over: OverLimit) {
            throw over
        } catch (_: Throwable) {
            encode(parts, null, stack)
        }
    } catch (_: OverLimit) {
        encode(parts.shortened(bytesMax), null, null)
    }
}
