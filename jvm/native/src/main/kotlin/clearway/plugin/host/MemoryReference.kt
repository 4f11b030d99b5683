// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin.host

import clearway.plugin.PluginErrorCode
import clearway.plugin.PluginException
import clearway.plugin.abi.Abi
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.LongAdder

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
