// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

/**
 * The parts of the caller's thread that helping threads copy: its context class loader, and the values of the site's
 * thread-locals. They are read when the batch is created. A helper gets its own values back when it leaves.
 */
internal class Context(private val locals: List<ThreadLocal<Any?>>, caller: Thread = Thread.currentThread()) {
    private val loader: ClassLoader? = caller.contextClassLoader
    private val values: Array<Any?> = valuesOf(locals)

    /** The helper's own values, from before it entered. */
    class Scope(val loader: ClassLoader?, val values: Array<Any?>)

    /** Sets the caller's values on the current thread. Returns the thread's previous values for [leave]. */
    fun enter(): Scope {
        val thread = Thread.currentThread()
        val before = Scope(thread.contextClassLoader, valuesOf(locals))
        if (before.loader !== loader) thread.contextClassLoader = loader
        for (i in values.indices) locals[i].set(values[i])
        return before
    }

    /** Restores the values that [enter] returned. */
    fun leave(scope: Scope?) {
        val before = scope ?: return
        val thread = Thread.currentThread()
        if (thread.contextClassLoader !== before.loader) thread.contextClassLoader = before.loader
        for (i in values.indices) if (before.values[i] == null) locals[i].remove() else locals[i].set(before.values[i])
    }

    private companion object {
        val EMPTY = arrayOfNulls<Any?>(0)

        fun valuesOf(locals: List<ThreadLocal<Any?>>) =
            if (locals.isEmpty()) EMPTY else Array(locals.size) { locals[it].get() }
    }
}
