// SPDX-License-Identifier: MIT OR Apache-2.0
@file:Suppress("DEPRECATION") // AccessController has no successor on the JDKs that have security contexts.

package clearway.executor.host

import java.lang.invoke.MethodHandle
import java.lang.invoke.MethodHandles
import java.lang.invoke.MethodType
import java.lang.management.ManagementFactory
import java.lang.management.PlatformManagedObject
import java.lang.reflect.InvocationTargetException
import java.security.AccessController
import java.security.PrivilegedAction
import java.util.concurrent.ThreadFactory

/**
 * Creates virtual threads from JDK 24 on. Since that version, a thread that waits inside `synchronized` no longer pins
 * its carrier. Finds the methods at run time, once, as method handles, so that the code compiles with JDK 17.
 */
internal object VirtualThreads {
    private const val SINCE = 24
    private val isVirtual: MethodHandle? = find {
        findVirtual(Thread::class.java, "isVirtual", MethodType.methodType(Boolean::class.java))
    }

    /** Returns whether `thread` is virtual. Returns false on a JDK without virtual threads. */
    fun isVirtual(thread: Thread): Boolean = isVirtual != null && isVirtual.invoke(thread) as Boolean

    /**
     * Returns a factory of virtual threads that all have this name; a number would have to be formatted for each
     * thread. They inherit no thread-locals. Returns null where platform threads are better: before JDK 24, or if
     * [Carriers] cannot be added.
     */
    fun factory(threadName: String): ThreadFactory? {
        if (Runtime.version().feature() < SINCE || !Carriers.canAdd) return null
        return find {
            val builder = Class.forName("java.lang.Thread\$Builder\$OfVirtual")
            val ofVirtual = findStatic(Thread::class.java, "ofVirtual", MethodType.methodType(builder))
            val name = findVirtual(builder, "name", MethodType.methodType(builder, String::class.java))
            val inherit =
                findVirtual(
                    builder,
                    "inheritInheritableThreadLocals",
                    MethodType.methodType(builder, Boolean::class.java),
                )
            val factory = findVirtual(builder, "factory", MethodType.methodType(ThreadFactory::class.java))
            factory.invoke(inherit.invoke(name.invoke(ofVirtual.invoke(), threadName), false)) as ThreadFactory
        }
    }

    private fun <T> find(search: MethodHandles.Lookup.() -> T): T? =
        try {
            MethodHandles.publicLookup().search()
        } catch (absent: ReflectiveOperationException) {
            null // An older JDK does not have it.
        }
}

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
            try {
                repeat(more) { OwnThread.detached { OwnThread("clearway-carrier-start", ::startCarrier) }.start() }
            } catch (_: OutOfMemoryError) {
                // The system cannot start more threads. The carriers were added, and must be taken back, all the same.
            }
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

/**
 * A daemon thread that keeps nothing of the thread that creates it. A thread otherwise inherits the context class
 * loader, the inheritable thread-locals and the thread group, and a server could then not unload the application that
 * happened to come first. The context class loader is the one of this library. Create it with [detached].
 */
internal open class OwnThread(name: String, run: Runnable? = null) : Thread(outermostGroup(), run, name, 0, false) {
    init {
        isDaemon = true
        priority = NORM_PRIORITY
        try {
            contextClassLoader = libraryLoader
        } catch (_: SecurityException) {
            // A security manager forbids it. The thread keeps the loader that it has.
        }
    }

    companion object {
        /** The class loader of this library. A thread that has it keeps no other one. */
        val libraryLoader: ClassLoader? = OwnThread::class.java.classLoader

        /** Calls `create` without the callers' security context, which a thread's constructor keeps on older JDKs. */
        fun <T : Thread> detached(create: () -> T): T = AccessController.doPrivileged(PrivilegedAction { create() })
    }
}

/** Returns the outermost thread group, which no application owns. Returns null if a security manager chooses it. */
private fun outermostGroup(): ThreadGroup? {
    if (System.getSecurityManager() != null) return null
    var group = Thread.currentThread().threadGroup
    while (group?.parent != null) group = group.parent
    return group
}
