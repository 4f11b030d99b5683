// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin.host

import clearway.plugin.abi.Layout
import java.lang.foreign.Arena
import java.lang.foreign.MemorySegment
import java.util.concurrent.ConcurrentLinkedQueue

/**
 * Native memory for the structures of one call. Each platform thread keeps its own. Virtual threads share a pool,
 * because there may be millions of them.
 */
internal class Scratch {
    private val arena = Arena.ofAuto()
    val event: MemorySegment = arena.allocate(Layout.EVENT_BYTES, 8)
    val content: MemorySegment = arena.allocate(Layout.CONTENT_BYTES, 8)
    val view: MemorySegment = arena.allocate(Layout.VIEW_BYTES, 8)
    val window: MemorySegment = arena.allocate(Layout.WINDOW_BYTES, 8)
    val number: MemorySegment = arena.allocate(8, 8)
    val handles: MemorySegment = arena.allocate(8L * ATTACHMENTS_MAX, 8)
    /**
     * Contains the bytes of a message during a call, and the bytes of a direct answer after it. The answer overwrites
     * the message only after the handler has returned.
     */
    val bytes: MemorySegment = arena.allocate(ROOM, 64)

    /** Whether a caller on this thread's stack already uses the scratch. */
    private var busy = false

    fun give() {
        busy = false
        if (Thread.currentThread().isVirtual) shared.add(this)
    }

    companion object {
        /**
         * Size of [bytes]. From this size on, lending costs less than copying, as measured in the hosts of other
         * languages.
         */
        const val ROOM: Long = 4096
        /** Maximum number of attachments of a message, as in libclearway. */
        const val ATTACHMENTS_MAX: Int = 32

        private val own: ThreadLocal<Scratch> = ThreadLocal.withInitial { Scratch() }
        private val shared = ConcurrentLinkedQueue<Scratch>()

        fun take(): Scratch {
            val taken = if (Thread.currentThread().isVirtual) shared.poll() else own.get()
            val free = if (taken == null || taken.busy) Scratch() else taken
            free.busy = true
            return free
        }
    }
}

internal inline fun <R> withScratch(use: (Scratch) -> R): R {
    val scratch = Scratch.take()
    try {
        return use(scratch)
    } finally {
        scratch.give()
    }
}
