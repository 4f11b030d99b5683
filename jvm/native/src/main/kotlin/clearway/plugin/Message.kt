// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin

import java.lang.foreign.MemorySegment
import java.nio.ByteBuffer

/**
 * A plugin's message: bytes, or the null message, and attached memories. [close] releases its native memory at once;
 * where it has none, that does nothing.
 */
public class Message
internal constructor(
    private val own: MemorySegment?,
    /** The native memory in which the bytes stand; null where they are the JVM's own. */
    public val memory: NativeMemory?,
    private val at: Long,
    /** Bytes; 0 also where the message is null. */
    public val size: Long,
    /** Further memories, none of them copied. */
    public val attachments: List<Message>,
) : AutoCloseable {
    /** Whether this is the null message, which is another than one of no bytes. */
    public val isNull: Boolean
        get() = own == null && memory == null

    /** The bytes where they stand; null for the null message. Throws `released`. Copies nothing. */
    public val segment: MemorySegment?
        get() = own ?: memory?.segment?.let { if (size == it.byteSize()) it else it.asSlice(at, size) }

    /** The same as a buffer, direct where the memory is native, in native byte order. Throws `too-large` over 2 GiB. */
    public val buffer: ByteBuffer?
        get() = segment?.let(::bufferOf)

    /**
     * The bytes as an array: the message's own, not copied, where they came by copy; else a copy. Null for the null
     * message.
     */
    public fun toByteArray(): ByteArray? {
        val segment = this.segment ?: return null
        val whole = segment.heapBase().orElse(null) as? ByteArray
        return if (whole != null && whole.size.toLong() == size) whole
        else segment.toArray(java.lang.foreign.ValueLayout.JAVA_BYTE)
    }

    /** Gives back its native memory, and that of its attachments. As [NativeMemory.close] in threads and errors. */
    override fun close() {
        memory?.close()
        for (each in attachments) each.close()
    }

    internal companion object {
        val NULL: Message = Message(null, null, 0, 0, emptyList())

        /** Bytes of the JVM's own. */
        fun of(own: MemorySegment, attachments: List<Message> = emptyList()): Message =
            Message(own, null, 0, own.byteSize(), attachments)
    }
}
