// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.host

import java.lang.management.ManagementFactory
import java.lang.management.PlatformManagedObject
import java.lang.reflect.InvocationTargetException

/** Adds and removes carriers: the platform threads of the process that run its virtual threads. */
internal interface Carriers {
    /** Adds up to `count` carriers. Returns how many it added: 0 at the limit of the process. */
    fun add(count: Int): Int

    /** Removes `count` carriers, which were added before. */
    fun remove(count: Int)

    companion object {
        private val bean: Class<out PlatformManagedObject>? =
            try {
                Class.forName("jdk.management.VirtualThreadSchedulerMXBean")
                    .asSubclass(PlatformManagedObject::class.java)
            } catch (_: ClassNotFoundException) {
                null // A JDK before 24, or a runtime without the module jdk.management.
            }

        /** Whether this JDK can change the number of carriers. */
        val canAdd: Boolean
            get() = bean != null

        /** The carriers of this process. */
        val ofProcess: Carriers = Managed
    }

    /**
     * Changes the number of carriers through the JDK's management interface, found at run time: see [VirtualThreads].
     */
    private object Managed : Carriers {
        private val scheduler: PlatformManagedObject? by lazy { bean?.let(ManagementFactory::getPlatformMXBean) }

        override fun add(count: Int): Int {
            var more = count
            while (more > 0 && !change(more)) more /= 2
            repeat(more) { OwnThread.detached { OwnThread("clearway-carrier-start", ::startCarrier) }.start() }
            return more
        }

        /**
         * Makes the JDK start a carrier. The JDK starts one for the first virtual thread in a queue, and each platform
         * thread has another queue. The queue of the calling thread is not empty while all carriers are pinned.
         */
        private fun startCarrier() {
            Thread::class.java.getMethod("startVirtualThread", Runnable::class.java).invoke(null, Runnable {})
        }

        override fun remove(count: Int) {
            change(-count)
        }

        private fun change(by: Int): Boolean =
            synchronized(this) {
                val type = bean ?: return false
                val now = type.getMethod("getParallelism").invoke(scheduler) as Int
                try {
                    type.getMethod("setParallelism", Int::class.java).invoke(scheduler, maxOf(1, now + by))
                    true
                } catch (refused: InvocationTargetException) {
                    false // The process has a maximum: `-Djdk.virtualThreadScheduler.maxPoolSize`, 256 by default.
                }
            }
    }
}
