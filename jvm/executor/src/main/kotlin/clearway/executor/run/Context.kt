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

    /**
     * Sets the caller's values on the current thread. Returns the thread's previous values for [leave]. If a
     * thread-local throws, restores the previous values and throws that exception.
     */
    fun enter(): Scope {
        val thread = Thread.currentThread()
        val before = Scope(thread.contextClassLoader, valuesOf(locals))
        try {
            if (before.loader !== loader) thread.contextClassLoader = loader
            for (i in values.indices) locals[i].set(values[i])
        } catch (thrown: Throwable) {
            restore(before)
            throw thrown
        }
        return before
    }

    /**
     * Restores the values that [enter] returned. A thread-local that throws does not stop the others from being
     * restored. Throws the first such exception at the end.
     */
    fun leave(scope: Scope?) {
        restore(scope ?: return)?.let { throw it }
    }

    /** Restores all values. Returns the first exception of a thread-local, or null if there is none. */
    private fun restore(before: Scope): Throwable? {
        val thread = Thread.currentThread()
        var failure: Throwable? = null
        try {
            if (thread.contextClassLoader !== before.loader) thread.contextClassLoader = before.loader
        } catch (thrown: Throwable) {
            failure = thrown // A security manager may forbid it.
        }
        for (i in values.indices) {
            try {
                if (before.values[i] == null) locals[i].remove() else locals[i].set(before.values[i])
            } catch (thrown: Throwable) {
                failure = failure ?: thrown
            }
        }
        return failure
    }

    private companion object {
        val EMPTY = arrayOfNulls<Any?>(0)

        fun valuesOf(locals: List<ThreadLocal<Any?>>) =
            if (locals.isEmpty()) EMPTY else Array(locals.size) { locals[it].get() }
    }
}
