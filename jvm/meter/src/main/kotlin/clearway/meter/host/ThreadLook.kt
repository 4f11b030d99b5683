// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.host

import clearway.meter.record.frames

/** The JVM's own means. */
internal object ThreadLook : Look {
    private val clock: ProcessorClock? = optional { ProcessorClock() }

    /**
     * The thread is stopped for some 50 us, at its next safepoint; until then this waits. Before JDK 19 every thread of
     * the JVM is, for as long as it takes to stop them: 1.9 and 2.0 ms on two busy cores.
     */
    override fun stack(thread: Thread): List<String> {
        val isRunning = thread.state == Thread.State.RUNNABLE
        return frames(thread.stackTrace, isRunning)
    }

    override fun whyNoStacks(): String? =
        try {
            Thread().stackTrace // Of a thread that never started: the permission is checked, and no thread is stopped.
            null
        } catch (_: SecurityException) {
            STACKS_FORBIDDEN
        }

    /** A system call, some 1 us. A virtual thread has no time of its own. */
    override fun cpuMs(thread: Thread): Double {
        val ns = optional { clock?.ns(thread) } ?: -1
        return if (ns < 0) Double.NaN else ns / 1e6
    }

    override fun waiting(): Waiting? = if (cpuMs(Thread.currentThread()).isNaN()) null else RunQueue.ofThisThread()
}
