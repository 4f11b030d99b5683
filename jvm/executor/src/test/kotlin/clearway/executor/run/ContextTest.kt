// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Test

/** Tests thread-locals that throw, between two that do not. */
class ContextTest {
    private val first = ThreadLocal<Any?>()
    private val last = ThreadLocal<Any?>()
    private var isBroken = false
    private val broken =
        object : ThreadLocal<Any?>() {
            override fun set(value: Any?) {
                if (isBroken) throw IllegalStateException("set: value=$value")
                super.set(value)
            }
        }
    private val all = listOf(first, broken, last)
    private val loader = Thread.currentThread().contextClassLoader

    private fun set(value: Any?) = all.forEach { it.set(value) }

    /** The context of a caller with values and a class loader of its own. The thread then has the value "own". */
    private fun context(): Context {
        val thread = Thread.currentThread()
        thread.contextClassLoader = object : ClassLoader() {}
        set("caller")
        val context = Context(all)
        thread.contextClassLoader = loader
        set("own")
        return context
    }

    private fun assertOwn() {
        assertEquals(listOf("own", "own"), listOf(first.get(), last.get()))
        assertSame(loader, Thread.currentThread().contextClassLoader)
    }

    @Test
    fun `a thread has its own values when a thread-local throws as it enters`() {
        val context = context()
        isBroken = true
        val thrown = assertThrows(IllegalStateException::class.java) { context.enter() }
        assertEquals("set: value=caller", thrown.message)
        assertOwn()
    }

    @Test
    fun `a thread has its own values when a thread-local throws as it leaves`() {
        val context = context()
        val scope = context.enter()
        isBroken = true
        assertThrows(IllegalStateException::class.java) { context.leave(scope) }
        assertOwn()
    }
}
