// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.host

import java.lang.management.ManagementFactory

/**
 * Reads the CPU time of threads from the JVM's management bean. This is a separate class, because not every JVM has the
 * module `java.management`.
 */
internal class ProcessorClock {
    private val threads =
        ManagementFactory.getThreadMXBean().takeIf { it.isThreadCpuTimeSupported && it.isThreadCpuTimeEnabled }

    /** Returns the thread's CPU time in ns, or -1 if the JVM does not count it. */
    fun ns(thread: Thread): Long = threads?.getThreadCpuTime(idOf(thread)) ?: -1

    // JDK 19 replaced this property by `threadId()`, which JDK 17 does not have.
    @Suppress("DEPRECATION") private fun idOf(thread: Thread): Long = thread.id
}
