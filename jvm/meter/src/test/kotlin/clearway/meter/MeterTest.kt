// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

import java.io.File
import java.nio.file.Files
import java.util.concurrent.Callable
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionStage
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Executor
import java.util.concurrent.Executors
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.atomic.AtomicInteger
import jdk.jfr.Recording
import jdk.jfr.consumer.RecordingFile
import kotlin.concurrent.thread
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Assumptions.assumeTrue
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestFactory

/** Holds the calling thread for 40 ms. */
private fun hold() {
    val end = System.nanoTime() + 40_000_000
    while (System.nanoTime() < end) Thread.onSpinWait()
}

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

class FlightRecordingTest {
    private fun held(ms: Long) {
        val end = System.nanoTime() + ms * 1_000_000
        while (System.nanoTime() < end) Thread.onSpinWait()
    }

    @Test
    fun `a flight recording contains every stall with its length, thread, cause, stack and marks`() {
        val events = Executors.newSingleThreadExecutor { Thread(it, "event loop") }
        val file = Files.createTempFile("clearway", ".jfr")
        try {
            val told = CountDownLatch(1)
            Recording().use { recording ->
                recording.enable("clearway.Stall")
                recording.start()
                val options = MeterOptions().label("loop").onStall { if (it.stacks.isNotEmpty()) told.countDown() }
                Meter.watch(events, options).use { watch ->
                    watch.ready.get()
                    // Repeats until a stall has a stack. On a busy machine, the meter's thread may have no core during
                    // a whole stall.
                    do events.submit { Meter.mark("import") { held(60) } }.get() while (told.count > 0)
                }
                recording.stop()
                recording.dump(file)
            }
            val event =
                RecordingFile.readAllEvents(file).first {
                    it.eventType.name == "clearway.Stall" && "held" in it.getString("stack").orEmpty()
                }
            assertEquals("loop", event.getString("watch"))
            assertEquals("event loop", event.getThread("thread").javaName)
            assertTrue(!event.getDuration("length").isNegative && !event.getDuration("length").isZero) { "$event" }
            assertTrue(event.getString("cause") in setOf("app", "machine", "gc"))
            assertTrue("FlightRecordingTest.held" in event.getString("stack")) { event.toString() }
            assertEquals("import", event.getString("marks"))
            assertTrue(event.getInstant("began") <= event.startTime)
        } finally {
            Files.delete(file)
            events.shutdownNow()
        }
    }
}

/**
 * A program that holds a watched thread until the watch has reported two stalls. It then prints the sources of
 * evidence.
 */
internal object MeterProgram {
    @JvmStatic
    fun main(args: Array<String>) {
        val loop = Executors.newSingleThreadExecutor { task -> Thread(task, "loop").apply { isDaemon = true } }
        val told = CountDownLatch(2)
        Meter.watch(loop, MeterOptions().onStall { told.countDown() }).use { watch ->
            do loop.submit { hold() }.get() while (told.count > 0)
            for (source in watch.report().sources) println("${source.name}: ${source.available}")
        }
        println("measured: ${Meter.measure(loop) { 7 }.value}")
    }
}

/** Tests JVMs that lack or forbid some features. The meter must use the other features. */
class PoorHostTest {
    private fun run(vararg options: String): List<String> {
        val java = File(System.getProperty("java.home"), "bin/java").path
        val path = listOf("-Xmx128m", "-cp", System.getProperty("java.class.path"), MeterProgram::class.java.name)
        val output = File.createTempFile("clearway", ".txt")
        val process =
            ProcessBuilder(listOf(java) + options + path).redirectErrorStream(true).redirectOutput(output).start()
        try {
            val ended = process.waitFor(90, TimeUnit.SECONDS)
            val said = output.readLines()
            assertTrue(ended, "it hangs: $said")
            assertEquals(0, process.exitValue(), "$said")
            return said
        } finally {
            process.destroyForcibly()
            output.delete()
        }
    }

    @Test
    fun `the meter reports stalls without the module java-management`() {
        val said = run("--limit-modules=java.base")
        assertTrue("heartbeat: true" in said && "garbage collection: false" in said, "$said")
        assertTrue("measured: 7" in said, "$said")
    }

    @Test
    fun `the meter sees no collections without the module jdk-management`() {
        val said = run("--limit-modules=java.management")
        assertTrue("heartbeat: true" in said && "garbage collection: false" in said, "$said")
    }

    @Test
    fun `the meter reports stalls without stacks under a security manager`() {
        assumeTrue(Runtime.version().feature() < 24, "this JDK has no security manager")
        val said = run("-Djava.security.manager")
        assertTrue("heartbeat: true" in said && "stacks: false" in said, "$said")
        assertTrue("measured: 7" in said, "$said")
    }
}

class FrameDropsTest {
    private fun drops(vararg lagsMs: Double, hz: Double = 60.0) = FrameDrops(0, lagsMs.toList(), lagsMs.sum(), hz)

    @Test
    fun `a lag of 1001 ms drops 59 frames by our formula and 63 by the published one`() {
        val found = drops(1.0, 1001.0)
        assertEquals(listOf(59, 63, 2), listOf(found.dropped, found.droppedAsPublished, found.probes))
        assertEquals(listOf(501.0, 1001.0, 1002.0), listOf(found.lagMeanMs, found.lagMaxMs, found.totalMs))
        assertEquals(listOf(1.0 to 1001.0), found.drops.map { it.startMs to it.lagMs })
        assertEquals("Jank: 59 frames dropped, max lag 1001 ms", "$found")
    }

    @Test
    fun `the line of a smooth run has the lags and the number of probes`() {
        assertEquals("Smooth: max lag 8 ms, average 5 ms, 2 probes", drops(8.0, 2.0).verdict)
        assertEquals("Smooth: max lag 0.43 ms, average 0.43 ms, 1 probe", drops(0.4251).verdict)
        assertEquals(0, drops().droppedAsPublished)
    }

    @Test
    fun `a lag is the time between two probes, and the last one ends with the stage`() {
        var nowMs = 0.0
        val stage = CompletableFuture<String>()
        val isFirst = AtomicBoolean(true)
        // Runs the function, which starts the probing thread, and none of that thread's probes.
        val executor = Executor { if (isFirst.getAndSet(false)) it.run() }
        val probe = FrameProbe(executor, 120.0, { stage }) { nowMs }
        probe.start()
        for (atMs in listOf(1.0, 3.0, 33.0)) {
            nowMs = atMs
            probe.probe()
        }
        nowMs = 34.0
        stage.complete("rows")
        val found = probe.outcome.get().getOrThrow()
        assertEquals(listOf(1.0, 2.0, 30.0, 1.0), found.lagsMs)
        assertEquals(listOf(3, 4), listOf(found.dropped, found.droppedAsPublished))
        assertEquals("rows", found.value)
    }

    @Test
    fun `a function that blocks its thread is one lag`() {
        val thread = Executors.newSingleThreadExecutor()
        try {
            val found = Meter.measureFrameDrops(thread, 60.0, Callable { Thread.sleep(100) })
            assertEquals(1, found.probes)
            assertTrue(found.lagMaxMs >= 99) { "lagMaxMs=${found.lagMaxMs}" }
            assertTrue(found.dropped >= 5) { "dropped=${found.dropped}" }
        } finally {
            thread.shutdown()
        }
    }

    @Test
    fun `a stage is probed until it completes`() {
        val thread = Executors.newSingleThreadExecutor()
        try {
            val stage = CompletableFuture<Int>()
            var tasks = 0
            // The function itself is the first task. The stage completes after ten probes.
            val counting = Executor { task ->
                thread.execute {
                    task.run()
                    if (++tasks == 11) stage.complete(3)
                }
            }
            val found = Meter.measureFrameDropsStage(counting, 60.0, Callable<CompletionStage<Int>> { stage })
            assertEquals(listOf(3, 11), listOf(found.value, found.probes))
        } finally {
            thread.shutdown()
        }
    }

    @Test
    fun `the function's own exception, a refusing executor and a wrong rate reach the caller`() {
        val own = IllegalStateException("own")
        val run = Executor(Runnable::run)
        assertSame(own, assertThrows(IllegalStateException::class.java) { Meter.measureFrameDrops(run) { throw own } })
        val refusing = Executor { throw RejectedExecutionException() }
        assertThrows(RejectedExecutionException::class.java) { Meter.measureFrameDrops(refusing) { 1 } }
        val wrong = assertThrows(IllegalArgumentException::class.java) { Meter.measureFrameDrops(run, 0.0) { 1 } }
        assertEquals("hz must be over 0, at most 1000: hz=0.0", wrong.message)
        // The probes' executor may begin to refuse later.
        var first = true
        val closing = Executor { if (first) it.run().also { first = false } else throw RejectedExecutionException() }
        assertThrows(RejectedExecutionException::class.java) {
            Meter.measureFrameDropsStage(closing, 60.0, Callable { CompletableFuture<Int>() })
        }
    }
}
