// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin.host

import clearway.plugin.Counts
import clearway.plugin.PluginErrorCode
import clearway.plugin.PluginException
import clearway.plugin.ViewKind
import clearway.plugin.abi.Abi
import clearway.plugin.abi.Layout
import java.lang.foreign.Arena
import java.lang.foreign.MemorySegment
import java.lang.ref.Cleaner
import java.nio.ByteBuffer
import java.util.concurrent.CompletableFuture
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.LongAdder

/**
 * The segments of the JVM that one open plugin has borrowed. The garbage collector cannot free a segment before native
 * code has returned it.
 */
internal class Loans(private val waiter: Long) {
    private val out = ConcurrentHashMap<Long, Loan>()

    val none: Boolean
        get() = out.isEmpty()

    /**
     * Lends a segment. Returns a handle that the caller must release. When native code returns the memory, the function
     * [returned] completes the future `returned`, unless it is null.
     */
    fun lend(segment: MemorySegment, tag: Long, returned: CompletableFuture<Void?>?): Long = withScratch { scratch ->
        val place = Place(segment.address(), segment.byteSize())
        val loan = Loan(segment, place, returned)
        out[tag] = loan
        loansByPlace[place] = loan
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
        loansByPlace.remove(loan.place, loan)
        return loan
    }

    private class Loan(val segment: MemorySegment, val place: Place, val returned: CompletableFuture<Void?>?)

    private data class Place(val address: Long, val size: Long)

    companion object {
        /** The value of CLEARWAY_MEMORY_SHARED in clearway.h. */
        private const val SHARED_FLAG = 2
        /** The value of CLEARWAY_MEMORY_LENT in clearway.h. */
        const val LENT_FLAG: Int = 4
        /** The value of CLEARWAY_MEMORY_SEALED in clearway.h. */
        const val SEALED_FLAG: Int = 1

        // The loans of all open plugins, by address and size. All plugins share this map, because a plugin may send a
        // message whose memory was lent to another plugin.
        private val loansByPlace = ConcurrentHashMap<Place, Loan>()

        /**
         * Returns the lent segment at this address; null if there is none. If the same bytes are lent several times,
         * only the latest loan is found.
         */
        fun at(address: Long, size: Long): MemorySegment? = loansByPlace[Place(address, size)]?.segment

        /**
         * Returns whether a segment can be lent: it is native and writable, and no code can close it while native code
         * uses it. The JVM has no query for code that can close a segment. This method therefore compares the class of
         * the segment's scope with the classes of three examples that cannot be closed. It treats any other segment as
         * one that can be closed.
         */
        fun isUncloseable(segment: MemorySegment): Boolean =
            segment.isNative && !segment.isReadOnly && segment.scope().javaClass in uncloseableScopes

        private val uncloseableScopes: Set<Class<*>> =
            setOf(
                Arena.global().scope().javaClass,
                Arena.ofAuto().scope().javaClass,
                MemorySegment.ofBuffer(ByteBuffer.allocateDirect(1)).scope().javaClass,
            )
    }
}

/** The counters, and the kind of views, that all memories of one plugin share. */
internal class MemoryContext(val views: ViewKind) {
    val leaked = LongAdder()
    val toNative = Counts()
    val fromNative = Counts()

    companion object {
        val cleaner: Cleaner = Cleaner.create()

        /** The whole memory of the process. It is used to read bytes at the addresses that libclearway reports. */
        val everything: MemorySegment = MemorySegment.NULL.reinterpret(Long.MAX_VALUE)
    }
}

/**
 * A reference to native memory. It is released once, and never while a call uses it. It is a separate object, because
 * the cleaner needs it after its owner was collected.
 */
internal class MemoryReference(val handle: Long, private val leaked: LongAdder?) : Runnable {
    // The number of calls that use the reference, plus the bit RELEASED. If [release] is called during calls, the last
    // of these calls releases the native memory.
    private val state = AtomicInteger(0)

    val released: Boolean
        get() = state.get() and RELEASED != 0

    /** Marks the reference as in use until [done]. Returns the handle. Throws `released`. */
    fun use(): Long {
        while (true) {
            val now = state.get()
            if (now and RELEASED != 0) throw released()
            if (state.compareAndSet(now, now + 1)) return handle
        }
    }

    fun done() {
        if (state.decrementAndGet() == RELEASED) Abi.memoryRelease(handle)
    }

    /** Releases the reference when no call uses it. Returns false if it was released before. */
    fun release(): Boolean {
        val before = state.getAndUpdate { it or RELEASED }
        if (before and RELEASED != 0) return false
        if (before == 0) Abi.memoryRelease(handle)
        return true
    }

    /** Called by the cleaner when the owner became unreachable without a release. */
    override fun run() {
        if (release()) leaked?.increment()
    }

    companion object {
        private const val RELEASED = 1 shl 30

        fun released() = PluginException(PluginErrorCode.RELEASED, "the memory was released")
    }
}
