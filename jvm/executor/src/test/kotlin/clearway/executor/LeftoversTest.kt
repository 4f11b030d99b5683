// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor

import java.lang.ref.ReferenceQueue
import java.lang.ref.WeakReference
import java.net.URLClassLoader
import java.util.concurrent.CountDownLatch
import java.util.concurrent.FutureTask
import java.util.function.IntConsumer
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Test

/** Tests that an executor leaves no threads and no classes behind. */
class LeftoversTest {
    private fun threads(): Set<Thread> =
        Thread.getAllStackTraces().keys.filter { it.name.startsWith("clearway-") }.toSet()

    private fun leavesNoThread(end: (AdaptiveExecutor) -> Unit) {
        val before = threads()
        val executor = AdaptiveExecutor(processors = 2, elasticMax = 8)
        val site = executor.site("work")
        repeat(20) { executor.runAll(site, 100) { Thread.onSpinWait() } }
        val both = CountDownLatch(2)
        executor.runAll(executor.site("waits"), 2) {
            both.countDown()
            both.await()
        }
        executor.submit {}.get()
        val own = threads() - before
        assertFalse(own.isEmpty())
        end(executor)
        for (each in own + (threads() - before)) {
            each.join(LIMIT_MS)
            assertFalse(each.isAlive, "${each.name} was left")
        }
    }

    @Test fun `no thread remains after close`() = leavesNoThread { it.close() }

    @Test fun `no thread remains after shutdown when all work has ended`() = leavesNoThread { it.shutdown() }

    @Test fun `no thread remains after shutdownNow`() = leavesNoThread { it.shutdownNow() }

    /** Loads a second copy of the executor's classes, separate from the tests' copy. */
    private class Apart : URLClassLoader(arrayOf(AdaptiveExecutor::class.java.protectionDomain.codeSource.location)) {
        override fun loadClass(name: String, resolve: Boolean): Class<*> {
            if (!name.startsWith("clearway.executor.")) return super.loadClass(name, resolve)
            return synchronized(getClassLoadingLock(name)) { findLoadedClass(name) ?: findClass(name) }
        }
    }

    /**
     * Uses an executor from a class loader of its own, on this thread, which continues to live. Returns that class
     * loader.
     */
    private fun use(stop: String): ClassLoader {
        val apart = Apart()
        val type = apart.loadClass(AdaptiveExecutor::class.java.name)
        val siteType = apart.loadClass(Site::class.java.name)
        val executor = type.getConstructor(Int::class.java, Int::class.java).newInstance(2, 8)
        val site = type.getMethod("site", String::class.java).invoke(executor, "work")
        val runAll = type.getMethod("runAll", siteType, Int::class.java, IntConsumer::class.java)
        repeat(20) { runAll.invoke(executor, site, 10, IntConsumer {}) }
        val task = FutureTask { 1 }
        type.getMethod("execute", Runnable::class.java).invoke(executor, task)
        task.get()
        type.getMethod(stop).invoke(executor)
        type.getMethod("close").invoke(executor)
        return apart
    }

    @Test
    fun `threads and task classes that used an executor keep none of its classes loaded`() {
        for (stop in listOf("close", "shutdownNow")) {
            val gone = ReferenceQueue<ClassLoader>()
            val loader = WeakReference(use(stop), gone)
            // The classes can be unloaded only after the executor's threads have ended, which takes some time.
            while (gone.remove(100) == null) System.gc()
            assertFalse(loader.get() != null)
        }
    }

    private companion object {
        const val LIMIT_MS = 60_000L
    }
}
