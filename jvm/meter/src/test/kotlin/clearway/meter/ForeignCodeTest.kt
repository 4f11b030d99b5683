// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Executor
import java.util.concurrent.Executors
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import kotlin.concurrent.thread
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestFactory

/** Tests the two pieces of foreign code that the meter calls: the executor and `onStall`. */
class ForeignCodeTest {
    private class Odd : Throwable("odd")

    private val throwing: Map<String, () -> Nothing> =
        linkedMapOf(
            "an exception" to { throw IllegalStateException("broken") },
            "an AssertionError" to { throw AssertionError("broken") },
            "a StackOverflowError" to { throw StackOverflowError("broken") },
            "Kotlin's TODO()" to { TODO() },
            "a Throwable of its own" to { throw Odd() },
        )
    private val loop = Executors.newSingleThreadExecutor { Thread(it, "event loop") }

    @AfterEach
    fun close() {
        loop.shutdownNow()
    }

    private fun hold() {
        val end = System.nanoTime() + 40_000_000
        while (System.nanoTime() < end) Thread.onSpinWait()
    }

    @TestFactory
    fun `the meter continues to report stalls when onStall throws`(): List<DynamicTest> =
        throwing.map { (what, throwing) ->
            dynamicTest("it throws $what") {
                val told = CountDownLatch(2)
                val options = MeterOptions().onStall { told.countDown().also { throwing() } }
                Meter.watch(loop, options).use { watch ->
                    do loop.submit(::hold).get() while (told.count > 0)
                    assertTrue(watch.report().sources.first { it.name == "heartbeat" }.available)
                }
            }
        }

    @Test
    fun `the meter observes the thread while onStall hangs, and close ends the thread of onStall`() {
        val caller = CompletableFuture<Thread>()
        val options =
            MeterOptions().onStall {
                caller.complete(Thread.currentThread())
                CountDownLatch(1).await()
            }
        val watch = Meter.watch(loop, options)
        do loop.submit(::hold).get() while (!caller.isDone)
        // Repeats until a later stall has a stack. On a busy machine, the meter's thread may have no core during a
        // whole stall.
        do loop.submit { Meter.mark("later", ::hold) }.get() while (
            watch.report().stalls.none { stall -> stall.stacks.isNotEmpty() && stall.marks.any { it.label == "later" } }
        )
        watch.close()
        caller.get().join()
    }

    @Test
    fun `a watch ends when its executor throws and the handler of uncaught exceptions hangs`() {
        val release = CountDownLatch(1)
        val executor = Executor {
            Thread.currentThread().setUncaughtExceptionHandler { _, _ -> release.await() }
            throw IllegalStateException("broken")
        }
        try {
            Meter.watch(executor).use { it.ready.get(60, TimeUnit.SECONDS) }
        } finally {
            release.countDown()
        }
    }

    @Test
    fun `onStall may close its watch`() {
        val closed = CountDownLatch(1)
        lateinit var watch: StallWatch
        val options =
            MeterOptions().onStall {
                watch.close()
                closed.countDown()
            }
        watch = Meter.watch(loop, options)
        do loop.submit(::hold).get() while (closed.count > 0)
        assertTrue(watch.report().stalls.isNotEmpty())
    }

    @TestFactory
    fun `a watch becomes ready, reports the failure and ends when its executor throws`(): List<DynamicTest> =
        throwing.map { (what, throwing) ->
            dynamicTest("it throws $what") {
                val executor = Executor { throwing() }
                Meter.watch(executor).use { watch ->
                    watch.ready.get(60, TimeUnit.SECONDS)
                    val heartbeat = watch.report().sources.first { it.name == "heartbeat" }
                    assertFalse(heartbeat.available)
                    assertTrue("threw" in heartbeat.why.orEmpty(), heartbeat.why)
                }
            }
        }

    @Test
    fun `an interrupt ends measure when the executor's execute blocks the meter`() {
        val blocks = CountDownLatch(1)
        val outcome = CompletableFuture<Throwable?>()
        val caller = thread {
            outcome.complete(
                runCatching {
                        Meter.measure(
                            Executor {
                                blocks.countDown()
                                CountDownLatch(1).await()
                            }
                        ) {}
                    }
                    .exceptionOrNull()
            )
        }
        blocks.await()
        caller.interrupt()
        assertTrue(outcome.get(1, TimeUnit.MINUTES) is InterruptedException)
    }

    @Test
    fun `the meter measures an executor that calls the meter`() {
        val inside = AtomicInteger()
        val executor = Executor { task ->
            if (inside.incrementAndGet() == 1) Meter.mark("inside") {}
            loop.execute(task)
        }
        assertEquals(7, Meter.measure(executor) { 7 }.value)
    }
}
