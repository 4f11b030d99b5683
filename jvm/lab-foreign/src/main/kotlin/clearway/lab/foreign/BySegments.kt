// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.foreign

import clearway.lab.channel.Crossing
import clearway.lab.channel.MESSAGE_BYTES_MAX
import java.lang.foreign.Arena
import java.lang.foreign.MemorySegment
import java.lang.foreign.ValueLayout.JAVA_BYTE

/** Two native segments, kept: C copies from one into the other. An encoded message is copied in and out by block. */
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
        val answer = ByteArray(message.size)
        MemorySegment.copy(to, JAVA_BYTE, 0, answer, 0, answer.size)
        return answer
    }

    override fun place(bytes: ByteArray) {
        size = bytes.size.toLong()
        MemorySegment.copy(bytes, 0, from, JAVA_BYTE, 0, bytes.size)
    }

    override fun placed(): Any {
        Downcalls.echo(from, to, size)
        return to.asSlice(0, size).asByteBuffer()
    }

    override fun close() = arena.close()
}
