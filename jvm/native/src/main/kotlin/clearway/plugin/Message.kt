// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin

import java.lang.foreign.MemorySegment
import java.nio.ByteBuffer

/**
 * A plugin's message: bytes or the null message, and attached memories. [close] releases its native memory at once. A
 * message without native memory needs no [close].
 */
public class Message
internal constructor(
    private val own: MemorySegment?,
    /** The native memory that contains the bytes; null if the bytes are in memory of the JVM. */
    public val memory: NativeMemory?,
    private val at: Long,
    /** The number of bytes; 0 for the null message, too. */
    public val size: Long,
    /** Further memories. None of them is copied. */
    public val attachments: List<Message>,
) : AutoCloseable {
    /** Whether this is the null message. The null message differs from a message of 0 bytes. */
    public val isNull: Boolean
        get() = own == null && memory == null

    /** The message's bytes, not copied; null for the null message. Throws `released`. */
    public val segment: MemorySegment?
        get() = own ?: memory?.segment?.let { if (size == it.byteSize()) it else it.asSlice(at, size) }

    /**
     * The message's bytes as a buffer in native byte order. The buffer is direct if the memory is native. Throws
     * `too-large` above 2 GiB.
     */
    public val buffer: ByteBuffer?
        get() = segment?.let(::bufferOf)

    /**
     * Returns the bytes as an array; null for the null message. If the message was copied into the heap, the array is
     * the message's own. Otherwise it is a copy.
     */
    public fun toByteArray(): ByteArray? {
        val segment = this.segment ?: return null
        val whole = segment.heapBase().orElse(null) as? ByteArray
        return if (whole != null && whole.size.toLong() == size) whole
        else segment.toArray(java.lang.foreign.ValueLayout.JAVA_BYTE)
    }

    /**
     * Releases the message's native memory and that of its attachments. Threads and exceptions: see
     * [NativeMemory.close].
     */
    override fun close() {
        memory?.close()
        for (each in attachments) each.close()
    }

    internal companion object {
        val NULL: Message = Message(null, null, 0, 0, emptyList())

        /** Returns a message of bytes in memory of the JVM. */
        fun of(own: MemorySegment, attachments: List<Message> = emptyList()): Message =
            Message(own, null, 0, own.byteSize(), attachments)
    }
}
