// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin.host

import clearway.plugin.abi.Abi
import clearway.plugin.abi.Layout
import java.lang.foreign.Arena
import java.lang.foreign.MemorySegment
import java.nio.ByteBuffer
import java.util.concurrent.CompletableFuture
import java.util.concurrent.ConcurrentHashMap

/**
 * Memory of the JVM's that native code has, by one waiter's tags. Each is kept from the collector until it has
 * returned.
 */
internal class Loans(private val waiter: Long) {
    private val out = ConcurrentHashMap<Long, Loan>()

    val none: Boolean
        get() = out.isEmpty()

    /** Lends; the handle is the caller's to release. `returned`, if any, is completed by [returned]. */
    fun lend(segment: MemorySegment, tag: Long, returned: CompletableFuture<Void?>?): Long = withScratch { scratch ->
        val place = Place(segment.address(), segment.byteSize())
        val loan = Loan(segment, place, returned)
        out[tag] = loan
        places[place] = loan
        val status = Abi.waiterLend(waiter, segment, segment.byteSize(), SHARED_FLAG, tag, scratch.view)
        if (status != Status.OK_NUMBER) {
            forget(tag)
            throw Status.error(status, "lend")
        }
        scratch.view.get(Layout.LONG, Layout.VIEW_MEMORY)
    }

    fun returned(tag: Long) {
        forget(tag)?.returned?.complete(null)
    }

    private fun forget(tag: Long): Loan? {
        val loan = out.remove(tag) ?: return null
        places.remove(loan.place, loan)
        return loan
    }

    private class Loan(val segment: MemorySegment, val place: Place, val returned: CompletableFuture<Void?>?)

    private data class Place(val address: Long, val size: Long)

    companion object {
        /** CLEARWAY_MEMORY_SHARED. */
        private const val SHARED_FLAG = 2
        /** CLEARWAY_MEMORY_LENT. */
        const val LENT_FLAG: Int = 4

        // Of all openings: what one has lent may come back from another.
        private val places = ConcurrentHashMap<Place, Loan>()

        /** The memory lent at this address; any of several loans of the same bytes. */
        fun at(address: Long, size: Long): MemorySegment? = places[Place(address, size)]?.segment

        /**
         * Returns whether the memory cannot be closed while native code has it. The JVM has no such query. The scopes
         * of memory that cannot be closed are recognized by one example of each kind; any other kind counts as
         * closable.
         */
        fun lasts(segment: MemorySegment): Boolean =
            segment.isNative && !segment.isReadOnly && segment.scope().javaClass in lasting

        private val lasting: Set<Class<*>> =
            setOf(
                Arena.global().scope().javaClass,
                Arena.ofAuto().scope().javaClass,
                MemorySegment.ofBuffer(ByteBuffer.allocateDirect(1)).scope().javaClass,
            )
    }
}
