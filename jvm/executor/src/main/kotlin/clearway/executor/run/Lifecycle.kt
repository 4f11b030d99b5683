// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import clearway.executor.ExecutorStatus
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.LongAdder

/**
 * The state of an executor (open, shut, over) and its number of running jobs. A job is a batch or a task. Jobs enter
 * while the state is open. The state is over when it is shut and the last job has left. One field holds both the state
 * and the number, so that no job enters after the end was reported.
 *
 * A trivial batch may skip [enter] and [leave]: they would cost two atomic operations on a field that all threads
 * share. Instead, it publishes itself elsewhere and then reads [isShut]. After it has withdrawn, it reads [isShut]
 * again, and calls [check] if that is true. `noTrivialBatch` returns true if no such batch is published.
 */
internal class Lifecycle(
    private val noTrivialBatch: () -> Boolean = { true },
    /** Called at the end, before waiting threads continue. May be called more than once. Must not throw. */
    private val onOver: () -> Unit = {},
) {
    private val state = AtomicInteger() // The number of running jobs, plus SHUT after a shutdown.
    private val over = CountDownLatch(1)

    /** Enters a job. Returns false, and refuses the job, after a shutdown. */
    fun enter(): Boolean {
        while (true) {
            val now = state.get()
            if (now and SHUT != 0) return false
            if (state.compareAndSet(now, now + 1)) return true
        }
    }

    /** Enters a job that a running job started, even after a shutdown. Otherwise the running job could not end. */
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
     * Reports the end if the state is shut and no job is left. No end is missed. A trivial batch withdraws and then
     * reads [isShut]. If the shutdown comes after that read, the call of `check` in [shut] sees that the batch is gone.
     * If the shutdown came before that read, the batch's thread calls `check`, too.
     */
    fun check() {
        if (state.get() != SHUT || !noTrivialBatch()) return
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

/** Numbers of single tasks since the executor was created. Adders, because all threads count. */
internal class TaskCounts {
    val submitted = LongAdder()
    val begun = LongAdder()
    val ended = LongAdder()
    val dropped = LongAdder()

    /** Returns a status. Reads the later numbers of a task first, so that no difference is negative. */
    fun status(cpuThreads: Int, cpuThreadsMax: Int, batchesRunning: Int, sites: Int): ExecutorStatus {
        val ended = ended.sum()
        val dropped = dropped.sum()
        val begun = begun.sum()
        val submitted = submitted.sum()
        return ExecutorStatus(
            cpuThreads,
            cpuThreadsMax,
            maxOf(0, submitted - begun - dropped),
            maxOf(0, begun - ended),
            ended,
            batchesRunning,
            sites,
        )
    }
}
