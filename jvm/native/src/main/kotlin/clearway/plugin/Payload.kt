// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin

import java.lang.foreign.MemorySegment
import java.nio.ByteBuffer

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
