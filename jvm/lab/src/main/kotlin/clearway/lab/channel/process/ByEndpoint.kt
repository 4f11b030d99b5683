// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.channel.process

import clearway.channel.Endpoint
import clearway.channel.EndpointOptions
import clearway.channel.Messages
import clearway.channel.MethodTable
import clearway.channel.Reply
import clearway.channel.codec.Codecs
import clearway.channel.codec.MethodCodec
import clearway.channel.transport.ChannelTransport
import clearway.lab.channel.Caller
import clearway.lab.channel.Pending
import clearway.lab.channel.Row
import java.util.concurrent.CompletableFuture
import java.util.concurrent.ExecutionException
import java.util.concurrent.Future

/**
 * Calls a peer through Clearway's channels over any transport, with default options and the row's codec. `copied`
 * returns the number of bytes that travelled in both directions. `end` ends the peer's process.
 */
internal class ByEndpoint(
    row: Row,
    transport: ChannelTransport,
    private val copied: () -> Long,
    private val end: () -> Unit,
) : Caller {
    private val endpoint = answerOf(Endpoint.connect(transport))
    private val ask = asking(endpoint, row)

    override val isLater: Boolean = true

    override val copiedBytes: Long
        get() = copied()

    override fun call(): Any? = ask().await()

    override fun send(): Pending = ask()

    override fun close() {
        endpoint.close()
        end()
    }
}

private const val NAME = "lab/echo"

private fun asking(endpoint: Endpoint, row: Row): () -> Pending {
    if (!row.isMethod) {
        return if (row.isBinary) asking(endpoint.messages(NAME, Codecs.BINARY), row.value as ByteArray)
        else asking(endpoint.messages(NAME), row.value)
    }
    val methods = endpoint.methods(NAME, codecOf(row))
    return {
        val answer = methods.call<Any?>("test", row.value)
        Pending { answerOf(answer) }
    }
}

private fun <T> asking(messages: Messages<T>, value: T?): () -> Pending = {
    val answer = messages.send(value)
    Pending { answerOf(answer).value }
}

private fun codecOf(row: Row): MethodCodec = if (row.codec == "json") Codecs.JSON_METHODS else Codecs.STANDARD_METHODS

/** Waits for the result. Throws the cause of a failure instead of its wrapper. */
private fun <T> answerOf(future: Future<T>): T =
    try {
        future.get()
    } catch (failed: ExecutionException) {
        throw failed.cause ?: failed
    }

/**
 * Connects the peer, which echoes. It answers on the thread that reads the transport, or on the default executor of
 * handlers if the row is queued. Does not block. Returns the future of [Endpoint.connect].
 */
internal fun echoing(row: Row, transport: ChannelTransport): CompletableFuture<Endpoint> {
    val options = EndpointOptions()
    if (!row.queued) options.executor(Runnable::run)
    return Endpoint.connect(transport, options).thenApply { endpoint ->
        when {
            row.isMethod -> endpoint.methods(NAME, codecOf(row)).handle(MethodTable().on("test") { args, _ -> args })
            row.isBinary -> endpoint.messages(NAME, Codecs.BINARY).handle { bytes, _ -> Reply.of(bytes) }
            else -> endpoint.messages(NAME).handle { value, _ -> Reply.of(value) }
        }
        endpoint
    }
}
