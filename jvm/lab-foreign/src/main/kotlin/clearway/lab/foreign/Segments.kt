// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.foreign

import clearway.lab.memory.Filler
import java.lang.foreign.Arena
import java.lang.foreign.MemorySegment
import java.lang.foreign.ValueLayout.JAVA_BYTE

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
