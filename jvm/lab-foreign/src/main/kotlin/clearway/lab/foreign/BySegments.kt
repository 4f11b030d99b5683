// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.foreign

import clearway.lab.channel.Crossing
import clearway.lab.channel.MESSAGE_BYTES_MAX
import java.lang.foreign.Arena
import java.lang.foreign.MemorySegment
import java.lang.foreign.ValueLayout.JAVA_BYTE
import java.util.function.UnaryOperator

/**
 * Sends bytes to C through two native segments that it keeps. C copies from one segment into the other. Java copies an
 * encoded message into the first segment and out of the second, each as one block.
 */
internal class BySegments : Crossing {
    private val arena = Arena.ofShared()
    private val from = arena.allocate(MESSAGE_BYTES_MAX.toLong(), PAGE)
    private val to = arena.allocate(MESSAGE_BYTES_MAX.toLong(), PAGE)
    private var size = 0L

    override val copiesEncoded: Int = 3
    override val copiesPlaced: Int = 1

    override fun encoded(message: ByteArray): ByteArray {
        MemorySegment.copy(message, 0, from, JAVA_BYTE, 0, message.size)
        Downcalls.echo(from, to, message.size.toLong())
        return read(to, message.size.toLong())
    }

    private fun read(segment: MemorySegment, size: Long): ByteArray {
        val bytes = ByteArray(size.toInt())
        MemorySegment.copy(segment, JAVA_BYTE, 0, bytes, 0, bytes.size)
        return bytes
    }

    override fun place(bytes: ByteArray) {
        size = bytes.size.toLong()
        MemorySegment.copy(bytes, 0, from, JAVA_BYTE, 0, bytes.size)
    }

    override fun placed(): Any {
        Downcalls.echo(from, to, size)
        return to.asSlice(0, size).asByteBuffer()
    }

    /** The same number as with two direct buffers. */
    override val copiesNativeToHost: Int = 4
    private val upcall by lazy { Downcalls.upcall(::answer, arena) }
    private var by: UnaryOperator<ByteArray>? = null
    private var failed: Exception? = null

    override fun callHost(message: ByteArray, answer: UnaryOperator<ByteArray>): ByteArray {
        by = answer
        MemorySegment.copy(message, 0, from, JAVA_BYTE, 0, message.size)
        val size = Downcalls.ask(upcall, message.size.toLong())
        failed?.let { throw it }
        return read(to, size)
    }

    private fun answer(size: Long): Long =
        try {
            val answered = checkNotNull(by).apply(read(from, size))
            MemorySegment.copy(answered, 0, to, JAVA_BYTE, 0, answered.size)
            answered.size.toLong()
        } catch (thrown: Exception) {
            failed = thrown // An exception that passes through C would end the JVM.
            0
        }

    override fun close() = arena.close()
}
