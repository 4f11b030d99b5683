// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin

import java.lang.foreign.MemorySegment
import java.nio.ByteBuffer

/** The content of a message to a plugin: bytes, or memory that both sides see. The null message is `null`. */
public sealed interface Payload {
    public companion object {
        /** Bytes of the JVM's heap, which native code cannot see: copied once on their way, whatever their number. */
        @JvmStatic public fun of(bytes: ByteArray): Payload = Bytes(MemorySegment.ofArray(bytes))

        /**
         * A buffer's remaining bytes, from its position to its limit; see [of] for segments. The position does not
         * change.
         */
        @JvmStatic public fun of(buffer: ByteBuffer): Payload = Bytes(MemorySegment.ofBuffer(buffer))

        /**
         * A segment. Native memory that may be written to is seen by the handler of a `call` as it is, and that may
         * write to it; `send` lends 4096 bytes and more of it where it cannot be closed (direct buffers, automatic and
         * global arenas), and copies the rest. Leave what was sent alone until it is answered.
         */
        @JvmStatic public fun of(segment: MemorySegment): Payload = Bytes(segment)
    }
}

/** Memory that both sides see, and that may go along with a message. */
public sealed interface Memory : Payload {
    /** Bytes. */
    public val size: Long

    /** All of it. Throws `released` after the release. */
    public val segment: MemorySegment
}

internal class Bytes(val segment: MemorySegment) : Payload
