// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin.host

import clearway.plugin.PluginErrorCode
import clearway.plugin.PluginException
import clearway.plugin.abi.Abi
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.LongAdder

/**
 * One reference to native memory: given up once, and not while a call uses it. In its own object, because the cleaner
 * has to reach it when the memory's owner is gone.
 */
internal class MemoryReference(val handle: Long, private val leaked: LongAdder?) : Runnable {
    // Calls that use it, and RELEASED. The call that ends the last use after the release gives the reference up.
    private val state = AtomicInteger(0)

    val released: Boolean
        get() = state.get() and RELEASED != 0

    /** Keeps the reference until [done]. Throws `released`. */
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

    /** False where it was released before. */
    fun release(): Boolean {
        val before = state.getAndUpdate { it or RELEASED }
        if (before and RELEASED != 0) return false
        if (before == 0) Abi.memoryRelease(handle)
        return true
    }

    /** Called by the cleaner: the memory is unreachable and was not released. */
    override fun run() {
        if (release()) leaked?.increment()
    }

    companion object {
        private const val RELEASED = 1 shl 30

        fun released() = PluginException(PluginErrorCode.RELEASED, "the memory was released")
    }
}
