// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import clearway.executor.AdaptiveExecutor
import clearway.executor.host.OwnThread
import java.net.URLClassLoader
import java.util.concurrent.Callable
import java.util.concurrent.CompletableFuture
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.CyclicBarrier
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class OwnThreadTest {
    private val inherited = InheritableThreadLocal<String>()
    private val app = URLClassLoader("app", emptyArray(), javaClass.classLoader)

    /** Calls `act` on a thread of an application that brings everything that a thread can inherit. */
    private fun inApp(act: () -> Unit) {
        val done = CompletableFuture<Unit>()
        val caller =
            Thread(ThreadGroup("app")) {
                inherited.set("app")
                try {
                    done.complete(act())
                } catch (thrown: Throwable) {
                    done.completeExceptionally(thrown)
                }
            }
        caller.contextClassLoader = app
        caller.priority = Thread.MIN_PRIORITY
        caller.start()
        done.join()
    }

    @Test
    fun `no thread of an executor inherits from its first caller`() = inApp {
        val caller = Thread.currentThread()
        val seen = ConcurrentLinkedQueue<Pair<Thread, String?>>()
        val executor = AdaptiveExecutor(processors = 2, elasticMax = 8)
        val ours =
            executor.use {
                val together = CyclicBarrier(6)
                // All items wait for each other, so the batch needs workers and elastic threads.
                executor.runAll(executor.site("together"), 6) {
                    together.await()
                    if (Thread.currentThread() !== caller) seen += Thread.currentThread() to inherited.get()
                }
                executor.submit(Callable { seen.add(Thread.currentThread() to inherited.get()) }).get()
                assertEquals(6, seen.size)
                val started = Thread.getAllStackTraces().keys.filter { it.name.startsWith("clearway-") }
                assertTrue(started.any { it.name == "clearway-watchdog" })
                for (thread in started) {
                    assertNotSame(caller.threadGroup, thread.threadGroup, thread.name)
                    assertEquals(Thread.NORM_PRIORITY, thread.priority, thread.name)
                }
                started + seen.map { it.first }
            }
        // While a thread runs an item, it has the context class loader of the batch's caller. Ended threads run none.
        for (thread in ours) thread.join()
        for (thread in ours) assertEquals(OwnThread.libraryLoader, thread.contextClassLoader, thread.name)
        for ((thread, value) in seen) assertEquals(null, value, thread.name)
    }
}
