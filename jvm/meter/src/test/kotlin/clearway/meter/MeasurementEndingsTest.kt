// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

import java.util.concurrent.Callable
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionException
import java.util.concurrent.Executor
import java.util.concurrent.Executors
import java.util.concurrent.TimeUnit
import java.util.function.BiConsumer
import kotlin.concurrent.thread
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Tests that a measurement ends, and leaves nothing behind, whatever the measured function does. */
class MeasurementEndingsTest {
    private val loop = Executors.newSingleThreadExecutor { Thread(it, "event loop") }

    @AfterEach
    fun close() {
        loop.shutdownNow()
    }

    /** A stage whose method of this name throws. */
    private class Broken(private val method: String) : CompletableFuture<Int>() {
        val thrown = IllegalStateException(method)

        private fun throwIn(called: String) {
            if (called == method) throw thrown
        }

        override fun toCompletableFuture(): CompletableFuture<Int> = this.also { throwIn("toCompletableFuture") }

        override fun isDone(): Boolean = super.isDone().also { throwIn("isDone") }

        override fun whenComplete(act: BiConsumer<in Int, in Throwable>): CompletableFuture<Int> =
            super.whenComplete(act).also { throwIn("whenComplete") }
    }

    @Test
    fun `a measurement throws what a method of the function's stage throws, and the watched thread goes on`() {
        val watched = loop.submit(Callable { Thread.currentThread() }).get()
        for (method in listOf("toCompletableFuture", "isDone", "whenComplete")) {
            val stage = Broken(method)
            val measurements: List<() -> Any> =
                listOf(
                    { Meter.measureStage(loop, function = Callable { stage }) },
                    { Meter.measureFrameDropsStage(loop, function = Callable { stage }) },
                )
            for (measure in measurements) {
                assertSame(stage.thrown, assertThrows(IllegalStateException::class.java) { measure() })
            }
        }
        assertSame(watched, loop.submit(Callable { Thread.currentThread() }).get())
    }

    @Test
    fun `a measurement throws the function's exception as the same object when its toString throws`() {
        val thrown =
            object : RuntimeException() {
                override fun toString(): String = throw IllegalStateException("toString")
            }
        assertSame(thrown, runCatching { Meter.measure(loop) { throw thrown } }.exceptionOrNull())
        assertSame(thrown, runCatching { Meter.measureFrameDrops(loop) { throw thrown } }.exceptionOrNull())
    }

    @Test
    fun `a measurement keeps the CompletionException that the function throws, and unwraps that of a stage`() {
        val cause = IllegalStateException("cause")
        val joined = CompletionException(cause)
        assertSame(joined, runCatching { Meter.measure(loop) { throw joined } }.exceptionOrNull())
        assertSame(joined, runCatching { Meter.measureFrameDrops(loop) { throw joined } }.exceptionOrNull())
        val stage = Callable { CompletableFuture.failedFuture<Int>(cause).thenApply { it } }
        assertSame(cause, runCatching { Meter.measureStage(loop, function = stage) }.exceptionOrNull())
    }

    @Test
    fun `an interrupted caller sends no further ping, also if the answers need no wait`() {
        val direct = Executor { it.run() }
        Thread.currentThread().interrupt()
        val report = Meter.ping(direct, PingOptions().count(Int.MAX_VALUE))
        assertTrue(Thread.interrupted())
        assertEquals(0, report.roundTripMs.n)
    }

    @Test
    fun `an interrupt of the caller ends the probes of a stage that does not complete`() {
        val probing = CompletableFuture<Thread>()
        // The function itself is the first task. The probing thread submits the others.
        val executor = Executor { task ->
            if (Thread.currentThread().name == "clearway-meter-probe") probing.complete(Thread.currentThread())
            loop.execute(task)
        }
        val outcome = CompletableFuture<Throwable?>()
        val caller = thread {
            val stage = Callable { CompletableFuture<Int>() }
            outcome.complete(runCatching { Meter.measureFrameDropsStage(executor, 60.0, stage) }.exceptionOrNull())
        }
        val probes = probing.get(1, TimeUnit.MINUTES)
        caller.interrupt()
        assertTrue(outcome.get(1, TimeUnit.MINUTES) is InterruptedException)
        probes.join()
    }
}
