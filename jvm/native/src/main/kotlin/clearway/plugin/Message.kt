// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin

import java.lang.foreign.MemorySegment
import java.nio.ByteBuffer

/**
 * A message of a plugin: its bytes or null, and attached memories. [close] releases the message's native memory at
 * once. A message without native memory need not be closed.
 */
public class Message
internal constructor(
    private val own: MemorySegment?,
    /** The native memory that contains the bytes; null if the bytes are in memory of the JVM. */
    public val memory: NativeMemory?,
    private val at: Long,
    /** The number of bytes. It is also 0 for the null message. */
    public val size: Long,
    /** The attached memories. They are never copied. */
    public val attachments: List<Message>,
) : AutoCloseable {
    /** Whether this is the null message. The null message differs from a message of 0 bytes. */
    public val isNull: Boolean
        get() = own == null && memory == null

    /** The message's bytes without a copy; null for the null message. Throws `released`. */
    public val segment: MemorySegment?
        get() = own ?: memory?.segment?.let { if (size == it.byteSize()) it else it.asSlice(at, size) }

    /**
     * The message's bytes as a buffer in native byte order; null for the null message. The buffer is direct if the
     * memory is native. Throws `too-large` above 2 GiB.
     */
    public val buffer: ByteBuffer?
        get() = segment?.let(::bufferOf)

    /**
     * Returns the message's bytes as an array; null for the null message. If the bytes are already in an array of their
     * exact size, returns that array. Otherwise returns a copy.
     */
    public fun toByteArray(): ByteArray? {
        val segment = this.segment ?: return null
        val whole = segment.heapBase().orElse(null) as? ByteArray
        return if (whole != null && whole.size.toLong() == size) whole
        else segment.toArray(java.lang.foreign.ValueLayout.JAVA_BYTE)
    }

    /**
     * Releases the native memory of the message and of its attachments. [NativeMemory.close] documents the threads and
     * the exceptions.
     */
    override fun close() {
        memory?.close()
        for (each in attachments) each.close()
    }

    internal companion object {
        val NULL: Message = Message(null, null, 0, 0, emptyList())

        /** Returns a message whose bytes are in memory of the JVM. */
        fun of(own: MemorySegment, attachments: List<Message> = emptyList()): Message =
            Message(own, null, 0, own.byteSize(), attachments)
    }
}

/**
 * The content of a message to a plugin: bytes, or memory that Java and native code share. `null` is the null message.
 */
public sealed interface Payload {
    public companion object {
        /** Returns a payload of bytes in the heap. They are always copied, because native code cannot use the heap. */
        @JvmStatic public fun of(bytes: ByteArray): Payload = Bytes(MemorySegment.ofArray(bytes))

        /**
         * Returns a payload of a buffer's remaining bytes. The buffer's position does not change. A direct buffer is
         * handled as a segment is.
         */
        @JvmStatic public fun of(buffer: ByteBuffer): Payload = Bytes(MemorySegment.ofBuffer(buffer))

        /**
         * Returns a payload of a segment.
         *
         * `PluginChannel.call` passes writable native memory to the handler without a copy, and the handler may write
         * to it. `PluginChannel.send` lends writable native memory of 4096 bytes or more that cannot be closed. That is
         * memory of direct buffers, of the automatic arena and of the global arena. All other memory is copied. Do not
         * change the memory until the message is answered.
         */
        @JvmStatic public fun of(segment: MemorySegment): Payload = Bytes(segment)
    }
}

/** Memory that Java and native code share. It can also be attached to a message. */
public sealed interface Memory : Payload {
    /** The size in bytes. */
    public val size: Long

    /** The whole memory. Throws `released` if the memory was released. */
    public val segment: MemorySegment
}

internal class Bytes(val segment: MemorySegment) : Payload
