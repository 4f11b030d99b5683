// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

/**
 * The parts of the caller's thread that helping threads get: its context class loader, and the values of the
 * thread-locals that the site names. Taken when the batch is made; put back on each helper when it leaves.
 */
internal class Context(private val locals: List<ThreadLocal<Any?>>, caller: Thread = Thread.currentThread()) {
    private val loader: ClassLoader? = caller.contextClassLoader
    private val values: Array<Any?> = valuesOf(locals)

    /** The helper's own values, to restore. */
    class Scope(val loader: ClassLoader?, val values: Array<Any?>)

    fun enter(): Scope {
        val thread = Thread.currentThread()
        val before = Scope(thread.contextClassLoader, valuesOf(locals))
        if (before.loader !== loader) thread.contextClassLoader = loader
        for (i in values.indices) locals[i].set(values[i])
        return before
    }

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
