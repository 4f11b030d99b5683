// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.foreign

import clearway.lab.memory.Filler
import java.lang.foreign.Arena
import java.lang.foreign.MemorySegment
import java.lang.foreign.ValueLayout.JAVA_BYTE

/**
 * Fills native memory in an arena, from C, in place. Each run allocates an arena that threads may share, and closes it
 * before the next one.
 */
internal class ByDowncall(private val bytes: Long) : Filler {
    private var arena = Arena.ofShared()
    private var segment: MemorySegment = arena.allocate(bytes, PAGE)

    override fun release() = arena.close()

    override fun renew() {
        arena = Arena.ofShared()
        segment = arena.allocate(bytes, PAGE)
    }

    override fun fill(value: Int) = Downcalls.fill(segment, value)

    override fun holds(value: Int): Boolean = allAre(segment, value)

    override fun close() = arena.close()
}

internal fun allAre(segment: MemorySegment, value: Int): Boolean =
    (0 until segment.byteSize()).all { segment.get(JAVA_BYTE, it) == value.toByte() }

/** Alignment of the memory, in bytes: the same as that of memory that C maps. */
internal const val PAGE: Long = 4096
