// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.host

import clearway.meter.MeterOptions
import clearway.meter.record.Marks
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Executor
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicReference
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Tests the end of a watch whose executor blocks the meter's thread. */
class WatcherTest {
    private val uncaught = AtomicReference<Throwable?>()
    private val blocked = CompletableFuture<Thread>()

    /** Starts a watch. Its executor calls `block` on the meter's thread, instead of running the beat. */
    private fun started(block: () -> Unit): Watcher {
        val executor = Executor {
            Thread.currentThread().setUncaughtExceptionHandler { _, thrown -> uncaught.set(thrown) }
            blocked.complete(Thread.currentThread())
            block()
        }
        val marks = Marks(MeterClock::nowMs)
        return Watcher(executor, MeterOptions(), MeterOptions.BEAT_MS, marks, onStall = null, stopMs = 20)
            .apply(Watcher::start)
    }

    private fun whyNot(watcher: Watcher) =
        watcher.report(MeterClock.nowMs()).sources.first { it.name == "heartbeat" }.why

    @Test
    fun `stop interrupts the meter's thread when execute blocks it, and reports no exception of the executor`() {
        val watcher = started { CountDownLatch(1).await() }
        val thread = blocked.get(1, TimeUnit.MINUTES)
        watcher.stop()
        thread.join()
        assertNull(uncaught.get())
        assertEquals("the executor's execute does not return", whyNot(watcher))
    }

    @Test
    fun `stop returns when no interrupt ends execute, and the meter's thread ends later`() {
        val release = CountDownLatch(1)
        val watcher = started { while (release.count > 0) Thread.onSpinWait() }
        val thread = blocked.get(1, TimeUnit.MINUTES)
        watcher.stop()
        watcher.stop()
        assertTrue(thread.isAlive)
        assertEquals("the executor's execute does not return", whyNot(watcher))
        release.countDown()
        thread.join()
    }
}
