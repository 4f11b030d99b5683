// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.host

import java.lang.management.ManagementFactory

/** The JVM's bean for threads' processor time. Loaded apart: not every JVM has the module `java.management`. */
internal class ProcessorClock {
    private val threads =
        ManagementFactory.getThreadMXBean().takeIf { it.isThreadCpuTimeSupported && it.isThreadCpuTimeEnabled }

    /** The thread's CPU time in ns; -1 if unknown. */
    fun ns(thread: Thread): Long = threads?.getThreadCpuTime(idOf(thread)) ?: -1

    // JDK 19 calls it threadId; 17 has only this.
    @Suppress("DEPRECATION") private fun idOf(thread: Thread): Long = thread.id
}
