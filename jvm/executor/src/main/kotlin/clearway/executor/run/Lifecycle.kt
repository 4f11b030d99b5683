// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger

/**
 * The state of an executor (open, shut, over) and the number of works inside. Work enters while the state is open. The
 * state is over when it is shut and the last work has left. One word holds both, so that no work enters after the end
 * was reported.
 *
 * Short work may skip `enter`, which would cost two atomic operations on a word that all threads share. It first
 * publishes itself elsewhere, then reads [isShut]; after it has withdrawn, it reads [isShut] again and calls [check].
 * `unseen` returns whether no such work is published.
 */
internal class Lifecycle(
    private val unseen: () -> Boolean = { true },
    /** Called at the end, before waiting threads continue; possibly more than once. Must not throw. */
    private val onOver: () -> Unit = {},
) {
    private val state = AtomicInteger() // The number of works inside, plus SHUT when shut.
    private val over = CountDownLatch(1)

    /** Returns false, and refuses the work, if the state is shut. */
    fun enter(): Boolean {
        while (true) {
            val now = state.get()
            if (now and SHUT != 0) return false
            if (state.compareAndSet(now, now + 1)) return true
        }
    }

    /** Enters nested work, even when shut: otherwise the work around it could not end. */
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
     * Reports the end if it has come. No end is missed: short work withdraws and then reads [isShut]. If the shutdown
     * came after that read, this call sees that the work is gone. If it came before, the withdrawing thread calls this,
     * too.
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
