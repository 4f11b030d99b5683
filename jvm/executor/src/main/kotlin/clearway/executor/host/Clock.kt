// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.host

import java.lang.management.GarbageCollectorMXBean
import java.lang.management.ManagementFactory
import java.lang.management.ThreadMXBean

/** The executor's clock; tests have their own. Never blocks. */
internal interface Clock {
    fun nanoTime(): Long

    /** CPU time of the current thread in ns, or -1 where it cannot be had: a virtual thread has none of its own. */
    fun threadCpuNs(): Long

    /** CPU time of `thread` in ns, or -1. */
    fun cpuNsOf(thread: Thread): Long

    /** CPU time of the whole process in ns, or -1. */
    fun processCpuNs(): Long

    /**
     * How long in ns the current thread was ready to run and had no processor, since it began; or -1. A preempted
     * thread is told from one that sleeps by this. Takes some 5 us.
     */
    fun waitedForProcessorNs(): Long = -1

    /** The system's number of the current thread, by which [waitedForProcessorNs] is asked of it later; or -1. */
    fun threadNumber(): Long = -1

    fun waitedForProcessorNs(threadNumber: Long): Long = -1

    /** Grows with every collection that may have stopped the threads. */
    fun collections(): Long
}

/** The JVM's own clocks. */
internal object SystemClock : Clock {
    private val threads: ThreadMXBean? =
        ManagementFactory.getThreadMXBean().takeIf { it.isCurrentThreadCpuTimeSupported && it.isThreadCpuTimeEnabled }
    private val collectors: Array<GarbageCollectorMXBean> =
        ManagementFactory.getGarbageCollectorMXBeans().toTypedArray()
    private val system = ManagementFactory.getOperatingSystemMXBean() as? com.sun.management.OperatingSystemMXBean

    override fun nanoTime(): Long = System.nanoTime()

    override fun threadCpuNs(): Long =
        if (threads == null || VirtualThreads.isVirtual(Thread.currentThread())) -1 else threads.currentThreadCpuTime

    override fun cpuNsOf(thread: Thread): Long =
        if (threads == null || VirtualThreads.isVirtual(thread)) -1 else threads.getThreadCpuTime(idOf(thread))

    override fun processCpuNs(): Long = system?.processCpuTime ?: -1

    override fun waitedForProcessorNs(): Long =
        if (VirtualThreads.isVirtual(Thread.currentThread())) -1 else Scheduler.waitedNs()

    override fun threadNumber(): Long =
        if (VirtualThreads.isVirtual(Thread.currentThread())) -1 else Scheduler.threadNumber()

    override fun waitedForProcessorNs(threadNumber: Long): Long = Scheduler.waitedNs(threadNumber)

    override fun collections(): Long {
        var sum = 0L
        for (collector in collectors) sum += collector.collectionCount
        return sum
    }

    // JDK 19 calls it threadId; 17 has only this.
    @Suppress("DEPRECATION") private fun idOf(thread: Thread): Long = thread.id
}
