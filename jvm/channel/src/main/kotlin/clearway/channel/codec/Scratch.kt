// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec

import java.util.concurrent.atomic.AtomicReference

/** Memory that a codec keeps between messages: the buffer that it writes to, and the keys that it has read. */
internal class Scratch {
    val writer = Writer()
    val keys = KeyCache()
}

/**
 * One reusable scratch. The first thread takes it; other threads create their own meanwhile. It is not a thread-local,
 * because there may be a million virtual threads.
 */
internal class ScratchShelf {
    val shelf = AtomicReference<Scratch>()

    inline fun <T> use(act: (Scratch) -> T): T {
        // One thread at a time owns it. Pairs with the `set` below, which publishes the changes.
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
         * One large message must not hold its memory for ever: the scratch of another language's codecs is as large.
         */
        const val KEPT_MAX = 1 shl 20
    }
}
