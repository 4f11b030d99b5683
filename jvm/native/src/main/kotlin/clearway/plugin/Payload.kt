// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin

import java.lang.foreign.MemorySegment
import java.nio.ByteBuffer

/** The content of a message to a plugin: bytes, or memory that both sides see. `null` is the null message. */
public sealed interface Payload {
    public companion object {
        /** Returns a payload of bytes in the heap. Native code cannot see the heap, so the bytes are always copied. */
        @JvmStatic public fun of(bytes: ByteArray): Payload = Bytes(MemorySegment.ofArray(bytes))

        /**
         * Returns a payload of a buffer's remaining bytes, from its position to its limit. The position does not
         * change. For direct buffers, see [of] for segments.
         */
        @JvmStatic public fun of(buffer: ByteBuffer): Payload = Bytes(MemorySegment.ofBuffer(buffer))

        /**
         * Returns a payload of a segment.
         *
         * `call` passes writable native memory to the handler without a copy, and the handler may write to the memory.
         * `send` lends native memory of 4096 bytes or more that cannot be closed (direct buffers, automatic and global
         * arenas). All other memory is copied. Do not change the memory until the message is answered.
         */
        @JvmStatic public fun of(segment: MemorySegment): Payload = Bytes(segment)
    }
}

/** Memory that both sides see. It can also be attached to a message. */
public sealed interface Memory : Payload {
    /** The size in bytes. */
    public val size: Long

    /** The whole memory. Throws `released` after the release. */
    public val segment: MemorySegment
}

internal class Bytes(val segment: MemorySegment) : Payload
