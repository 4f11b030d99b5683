// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger

/**
 * Open, shut, over, and the number of works that are in between: work enters while it is open, and it is over when it
 * is shut and the last has left. One word, so that no work enters after the end was told.
 *
 * Short work may go without entering, for that costs two atomic operations on a word that all threads share: it makes
 * itself seen elsewhere, then looks whether this [isShut], and after it has withdrawn looks again and calls [check].
 * `unseen` says whether none of that kind is there.
 */
internal class Lifecycle(
    private val unseen: () -> Boolean = { true },
    /** Called at the end, before the threads that wait for it; maybe more than once. Does not throw. */
    private val onOver: () -> Unit = {},
) {
    private val state = AtomicInteger() // The works inside; SHUT is added when it is shut.
    private val over = CountDownLatch(1)

    /** False when it is shut, and the work is refused. */
    fun enter(): Boolean {
        while (true) {
            val now = state.get()
            if (now and SHUT != 0) return false
            if (state.compareAndSet(now, now + 1)) return true
        }
    }

    /** Work that belongs to work that is inside comes in even when it is shut: else that could not end. */
    fun enterNested() {
        state.incrementAndGet()
    }

    fun leave() {
        if (state.decrementAndGet() == SHUT) check()
    }

    fun shut() {
        while (true) {
            val now = state.get()
            if (now and SHUT != 0) return
            if (state.compareAndSet(now, now or SHUT)) break
        }
        check()
    }

    /**
     * Tells the end if this is it. Who withdrew before it looked at [isShut] is not seen here, or it was shut before
     * that look and the one who withdrew comes here as well.
     */
    fun check() {
        if (state.get() != SHUT || !unseen()) return
        onOver()
        over.countDown()
    }

    val isShut: Boolean
        get() = state.get() and SHUT != 0

    val isOver: Boolean
        get() = over.count == 0L

    fun await(timeout: Long, unit: TimeUnit): Boolean = over.await(timeout, unit)

    private companion object {
        const val SHUT = 1 shl 30
    }
}
