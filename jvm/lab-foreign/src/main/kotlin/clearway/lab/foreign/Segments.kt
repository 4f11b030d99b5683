// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.foreign

import clearway.lab.channel.Crossing
import clearway.lab.channel.MESSAGE_BYTES_MAX
import clearway.lab.memory.Filler
import java.lang.foreign.Arena
import java.lang.foreign.MemorySegment
import java.lang.foreign.ValueLayout.JAVA_BYTE
import java.util.function.UnaryOperator

/**
 * Fills native memory in an arena. Each run allocates an arena that threads may share, and closes it before the next
 * one.
 */
internal abstract class InSegment(private val bytes: Long) : Filler {
    private var arena = Arena.ofShared()
    protected var segment: MemorySegment = arena.allocate(bytes, PAGE)
        private set

    override fun release() = arena.close()

    override fun renew() {
        arena = Arena.ofShared()
        segment = arena.allocate(bytes, PAGE)
    }

    override fun holds(value: Int): Boolean = allAre(segment, value)

    override fun close() = arena.close()
}

internal fun allAre(segment: MemorySegment, value: Int): Boolean =
    (0 until segment.byteSize()).all { segment.get(JAVA_BYTE, it) == value.toByte() }

/** Alignment of the memory, in bytes: the same as that of memory that C maps. */
internal const val PAGE: Long = 4096

/** Fills from Java, without C. */
internal class SegmentFill(bytes: Long) : InSegment(bytes) {
    override fun fill(value: Int) {
        segment.fill(value.toByte())
    }
}

/** Fills from C, in place. */
internal class ByDowncall(bytes: Long) : InSegment(bytes) {
    override fun fill(value: Int) = Downcalls.fill(segment, value)
}

/** Fills an array on the heap. Copies it to native memory, fills that memory from C, and copies it back. */
internal class ByCopies(private val bytes: Int) : Filler {
    private var arena = Arena.ofShared()
    private var native = arena.allocate(bytes.toLong(), PAGE)
    private var array = ByteArray(bytes)

    override fun release() = arena.close()

    override fun renew() {
        arena = Arena.ofShared()
        native = arena.allocate(bytes.toLong(), PAGE)
        array = ByteArray(bytes)
    }

    override fun fill(value: Int) {
        MemorySegment.copy(array, 0, native, JAVA_BYTE, 0, bytes)
        Downcalls.fill(native, value)
        MemorySegment.copy(native, JAVA_BYTE, 0, array, 0, bytes)
    }

    override fun holds(value: Int): Boolean = array.all { it == value.toByte() }

    override fun close() = arena.close()
}

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
