// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.channel.process

import clearway.channel.Endpoint
import clearway.channel.EndpointOptions
import clearway.channel.Messages
import clearway.channel.MethodTable
import clearway.channel.Reply
import clearway.channel.codec.Codecs
import clearway.channel.codec.MethodCodec
import clearway.channel.transport.ChannelSink
import clearway.channel.transport.ChannelTransport
import clearway.channel.websocket.WebSocketServer
import clearway.channel.websocket.WebSocketServerOptions
import clearway.channel.websocket.WebSocketTransport
import clearway.lab.channel.Caller
import clearway.lab.channel.MessagePackCodec
import clearway.lab.channel.Pending
import clearway.lab.channel.Row
import java.io.BufferedInputStream
import java.io.BufferedOutputStream
import java.io.DataInputStream
import java.io.DataOutputStream
import java.io.EOFException
import java.io.IOException
import java.io.InputStream
import java.io.OutputStream
import java.net.URI
import java.util.concurrent.CompletableFuture
import java.util.concurrent.ExecutionException
import java.util.concurrent.ExecutorService
import java.util.concurrent.Executors
import java.util.concurrent.Future
import java.util.concurrent.atomic.AtomicLong

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

/**
 * Calls a child process over its pipes, without Clearway. Encodes values other than bytes as MessagePack. For [call],
 * the calling thread writes and reads. For [send], a single-threaded executor writes, because the pipes may be full.
 * Owns the child.
 */
internal class ByStreams(private val row: Row, private val child: EchoChild) : Caller {
    private val pack = MessagePackCodec(row)
    private val messages = SizedMessages(child.inputStream, child.outputStream)
    private val writer = Executors.newSingleThreadExecutor()

    override val isLater: Boolean = true

    override val copiedBytes: Long
        get() = child.pipedBytes

    override fun call(): Any? {
        try {
            messages.write(written())
        } catch (broken: IOException) {
            throw child.ended(broken)
        }
        return answer()
    }

    override fun send(): Pending {
        val message = written()
        // If this write fails, the read of the answer fails, too.
        writer.submit(Runnable { messages.write(message) })
        return Pending(::answer)
    }

    private fun written(): ByteArray = if (row.isBinary) row.value as ByteArray else pack.write()

    private fun answer(): Any? {
        val answer =
            try {
                messages.read() ?: throw child.ended(null)
            } catch (broken: IOException) {
                throw child.ended(broken)
            }
        return if (row.isBinary) answer else pack.read(answer)
    }

    override fun close() {
        // Closes the stream after pending writes. A blocked write ends when the child ends.
        writer.submit(Runnable { messages.close() })
        writer.shutdown()
        child.close()
    }
}

/**
 * Runs the peer, which echoes. It answers on this thread, or on a single-threaded executor if the row is queued.
 * Returns when the input has ended.
 */
internal fun echoBytes(row: Row, messages: SizedMessages) {
    val pack = MessagePackCodec(row)
    val answer = { message: ByteArray -> messages.write(if (row.isBinary) message else pack.write(pack.read(message))) }
    val queue: ExecutorService? = if (row.queued) Executors.newSingleThreadExecutor() else null
    try {
        while (true) {
            val message = messages.read() ?: return
            if (queue == null) answer(message) else queue.execute { answer(message) }
        }
    } finally {
        queue?.shutdown()
    }
}

/**
 * Opens a WebSocket to a child on loopback. The child prints its address and token to its standard output. Owns the
 * child.
 */
internal fun overSocket(row: Row, child: EchoChild): Caller {
    val addressLine = child.inputReader().readLine() ?: throw child.ended(null)
    val (uri, token) = addressLine.split(' ')
    val counted = CountedTransport(WebSocketTransport.connect(URI(uri), token))
    return ByEndpoint(row, counted, counted.bytes::get) {
        child.outputStream.close()
        child.close()
    }
}

/** Runs the child's end: a server with default options. Returns when the standard input has ended. */
internal fun echoSocket(row: Row) {
    WebSocketServer.start(WebSocketServerOptions()) { transport -> echoing(row, transport) }
        .use { server ->
            println("${server.uri} ${server.token}")
            System.`in`.read()
        }
}

/** Counts the bytes of frames in both directions, without the WebSocket headers. The JDK's sockets count nothing. */
private class CountedTransport(private val of: ChannelTransport) : ChannelTransport by of {
    val bytes = AtomicLong()

    override fun send(frame: ByteArray): Boolean {
        bytes.addAndGet(frame.size.toLong())
        return of.send(frame)
    }

    override fun open(sink: ChannelSink) =
        of.open(
            object : ChannelSink by sink {
                override fun frame(frame: ByteArray) {
                    bytes.addAndGet(frame.size.toLong())
                    sink.frame(frame)
                }
            }
        )
}

/**
 * Sends and receives messages over two byte streams. Each message follows its size, as in common hand-written framing.
 * Buffers the streams, as `Process` recommends. One thread at a time may read, and one may write. Blocks. Throws the
 * streams' exceptions.
 */
internal class SizedMessages(input: InputStream, output: OutputStream) : AutoCloseable {
    private val input = DataInputStream(BufferedInputStream(input, BUFFER_BYTES))
    private val output = DataOutputStream(BufferedOutputStream(output, BUFFER_BYTES))

    /** Writes a message and flushes it. */
    fun write(message: ByteArray) {
        output.writeInt(message.size)
        output.write(message)
        output.flush()
    }

    /** Reads the next message into new memory. Returns null if the input has ended. */
    fun read(): ByteArray? {
        val size =
            try {
                input.readInt()
            } catch (ended: EOFException) {
                return null
            }
        return ByteArray(size).also(input::readFully)
    }

    /** Closes the output. The input can still be read. */
    override fun close() = output.close()

    private companion object {
        /** Size of each buffer: the size of a pipe on Linux, as in Clearway's transport. */
        const val BUFFER_BYTES = 1 shl 16
    }
}
