// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.channel.process

import clearway.lab.channel.Caller
import clearway.lab.channel.Packed
import clearway.lab.channel.Pending
import clearway.lab.channel.Row
import java.io.IOException
import java.util.concurrent.ExecutorService
import java.util.concurrent.Executors

/**
 * Calls a child over its pipes, without Clearway, with MessagePack for values other than bytes. Single calls are
 * written and read by the calling thread. For several in flight, a single-threaded executor writes, in case the pipes
 * are full. Owns the child.
 */
internal class ByStreams(private val row: Row, private val child: EchoChild) : Caller {
    private val pack = Packed(row)
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
        // A failure here also fails the read.
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
        // Closes after pending writes. A blocked write ends when the child does.
        writer.submit(Runnable { messages.close() })
        writer.shutdown()
        child.close()
    }
}

/** The peer. Answers on this thread, or on a single-threaded executor. Returns when the input has ended. */
internal fun echoBytes(row: Row, messages: SizedMessages) {
    val pack = Packed(row)
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
