// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec

import java.util.concurrent.atomic.AtomicReference

/** Memory that a codec reuses for its next message: the output buffer and the cache of map keys. */
internal class Scratch {
    val writer = Writer()
    val keys = KeyCache()
}

/**
 * Keeps one [Scratch] that all threads share, one at a time. A thread that finds none creates its own. The spare
 * scratch is not a thread-local, because a process may have a million virtual threads and each would keep a buffer.
 */
internal class SpareScratch {
    val spare = AtomicReference<Scratch>()

    /** Calls `act` with a scratch, in which it may write a message of at most `bytesMax` bytes. */
    inline fun <T> use(bytesMax: Long = Writer.ARRAY_MAX, act: (Scratch) -> T): T {
        // Only one thread at a time owns the scratch. `getAndSet` reads the scratch that the `set` below published,
        // with all changes.
        val scratch = spare.getAndSet(null) ?: Scratch()
        scratch.writer.begin(bytesMax)
        try {
            return act(scratch)
        } finally {
            if (scratch.writer.bytes.size <= KEPT_MAX) spare.set(scratch)
        }
    }

    internal companion object {
        /**
         * Maximum size, in bytes, of a buffer that is kept. A larger buffer is dropped, so that one large message does
         * not hold its memory for ever. The codecs of the other languages have the same limit.
         */
        const val KEPT_MAX = 1 shl 20
    }
}
