// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.channel.process

import clearway.lab.channel.Caller
import clearway.lab.channel.MessagePackCodec
import clearway.lab.channel.Pending
import clearway.lab.channel.Row
import java.io.IOException
import java.util.concurrent.ExecutorService
import java.util.concurrent.Executors

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
