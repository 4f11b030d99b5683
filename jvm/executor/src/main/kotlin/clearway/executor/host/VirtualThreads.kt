// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.host

import java.lang.invoke.MethodHandle
import java.lang.invoke.MethodHandles
import java.lang.invoke.MethodType
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
