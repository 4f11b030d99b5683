// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec

import java.util.concurrent.atomic.AtomicReference

/** Memory that a codec keeps between messages: its output buffer, and the map keys that it has read. */
internal class Scratch {
    val writer = Writer()
    val keys = KeyCache()
}

/**
 * Keeps one scratch for reuse. A thread takes it from the shelf. Threads that find the shelf empty create their own. A
 * thread-local would not do, because a process may have a million virtual threads.
 */
internal class ScratchShelf {
    val shelf = AtomicReference<Scratch>()

    inline fun <T> use(act: (Scratch) -> T): T {
        // One thread at a time owns the scratch. `getAndSet` pairs with the `set` below, which publishes the changes.
        val scratch = shelf.getAndSet(null) ?: Scratch()
        try {
            return act(scratch)
        } finally {
            scratch.writer.offset = 0
            if (scratch.writer.bytes.size <= KEPT_MAX) shelf.set(scratch)
        }
    }

    internal companion object {
        /**
         * Maximum buffer size, in bytes, of a scratch that is kept. A large message must not hold its memory for ever.
         * The codecs of the other languages have the same limit.
         */
        const val KEPT_MAX = 1 shl 20
    }
}
