// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.channel

import java.util.concurrent.Callable
import java.util.concurrent.ExecutorService
import java.util.concurrent.Executors
import java.util.concurrent.TimeUnit
import java.util.function.UnaryOperator

/**
 * Calls native code directly, without Clearway. Encodes values other than bytes as MessagePack. Uses a single-threaded
 * executor if the row is queued. Owns `crossing`, and `close` closes it.
 */
internal class CrossingCaller(private val row: Row, private val crossing: Crossing) : Caller {
    private val pack = MessagePackCodec(row)
    private val again = UnaryOperator<ByteArray> { pack.write(pack.read(it)) }
    private val queue: ExecutorService? = if (row.queued) Executors.newSingleThreadExecutor() else null

    init {
        if (row.isBinary) crossing.place(row.value as ByteArray)
    }

    override var copiedBytes: Long = 0
        private set

    override val isLater: Boolean
        get() = row.queued

    override fun call(): Any? {
        if (row.queued) return send().await()
        if (row.isNativeToHost) return callFromNative()
        if (row.isBinary) return counted(crossing.placed())
        return read(crossing.encoded(pack.write()))
    }

    override fun send(): Pending {
        val to = checkNotNull(queue) { "the row is not queued" }
        if (row.isBinary) {
            val answer = to.submit(Callable { crossing.placed() })
            return Pending { counted(answer.get()) }
        }
        val message = pack.write()
        val answer = to.submit(Callable { crossing.encoded(message) })
        return Pending { read(answer.get()) }
    }

    private fun callFromNative(): Any? {
        val answer = crossing.callHost(pack.write(), again)
        // Counts two encodings, too: the message, and Java's answer.
        copiedBytes += (2L + crossing.copiesNativeToHost) * answer.size
        return pack.read(answer)
    }

    private fun counted(answer: Any): Any {
        copiedBytes += crossing.copiesPlaced * (row.value as ByteArray).size.toLong()
        return answer
    }

    private fun read(answer: ByteArray): Any? {
        // The encoding is one more copy.
        copiedBytes += (1L + crossing.copiesEncoded) * answer.size
        return pack.read(answer)
    }

    override fun close() {
        queue?.shutdownNow()
        queue?.awaitTermination(END_S, TimeUnit.SECONDS)
        crossing.close()
    }

    private companion object {
        const val END_S = 5L
    }
}
