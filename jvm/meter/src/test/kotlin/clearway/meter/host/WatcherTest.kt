// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.host

import clearway.meter.MeterOptions
import clearway.meter.Stall
import clearway.meter.StallCause
import clearway.meter.StallWatch
import clearway.meter.record.Marks
import java.net.URLClassLoader
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.CountDownLatch
import java.util.concurrent.ExecutionException
import java.util.concurrent.Executor
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit
import java.util.concurrent.TimeoutException
import java.util.concurrent.atomic.AtomicReference
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNotSame
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.DisplayName
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.CsvSource

/** Tests a watch whose executor blocks the meter's thread. */
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
    fun `a reset delivers the stalls that were found before it`() {
        val told = LinkedBlockingQueue<Stall>()
        val marks = Marks(MeterClock::nowMs)
        val executor = Executor { CountDownLatch(1).await() }
        val watcher = Watcher(executor, MeterOptions(), MeterOptions.BEAT_MS, marks, told::add, stopMs = 20)
        watcher.start()
        val atMs = MeterClock.nowMs()
        watcher.begin(atMs)
        watcher.blocked(atMs, atMs + 100, "held")
        watcher.reset(atMs + 100)
        assertEquals(100.0, told.poll(1, TimeUnit.MINUTES)!!.lengthMs, 1e-6)
        watcher.stop()
    }

    @Test
    fun `reading ready keeps nothing, and no reader can make the watch ready`() {
        val watcher = started { CountDownLatch(1).await() }
        val watch = StallWatch(watcher)
        repeat(100_000) { assertFalse(watch.ready.isDone) }
        val other = watch.ready
        watch.ready.complete(null)
        watch.ready.cancel(true)
        watch.ready.completeAsync({ null }, { it.run() })
        watch.ready.obtrudeValue(null)
        watch.ready.completeExceptionally(TimeoutException())
        watch.ready.obtrudeException(TimeoutException())
        val late = watch.ready.orTimeout(1, TimeUnit.MILLISECONDS)
        assertThrows(ExecutionException::class.java) { late.get(1, TimeUnit.MINUTES) }
        watch.ready.completeOnTimeout(null, 1, TimeUnit.MILLISECONDS).get(1, TimeUnit.MINUTES)
        for (each in listOf(other, watch.ready)) assertFalse(each.isDone)
        assertTrue(watcher.ready.numberOfDependents <= 4)
        blocked.get(1, TimeUnit.MINUTES)
        watcher.stop()
        for (each in listOf(other, watch.ready)) each.get(1, TimeUnit.MINUTES)
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

class OwnThreadTest {
    @Test
    fun `a thread inherits nothing from the thread that creates it`() {
        val inherited = InheritableThreadLocal<String>()
        val value = CompletableFuture<String?>()
        val made = CompletableFuture<Thread>()
        val app =
            Thread(ThreadGroup("app")) {
                inherited.set("app")
                made.complete(ownThread("ours") { value.complete(inherited.get()) })
            }
        app.contextClassLoader = URLClassLoader(emptyArray(), javaClass.classLoader)
        app.priority = Thread.MIN_PRIORITY
        app.start()
        val thread = made.join()
        assertTrue(thread.isDaemon)
        assertEquals(javaClass.classLoader, thread.contextClassLoader)
        assertEquals(Thread.NORM_PRIORITY, thread.priority)
        assertNotSame(app.threadGroup, thread.threadGroup)
        thread.start()
        assertEquals(null, value.join())
    }
}

class StallDeliveryTest {
    private val received = CopyOnWriteArrayList<Int>()
    private val begun = CountDownLatch(1)
    private val release = CountDownLatch(1)

    private fun stall(number: Int) =
        Stall(number.toDouble(), 10.0, 0.0, StallCause.APP, "test", 0.0, 0.0, emptyList(), emptyList())

    private fun StallDelivery.addAll(numbers: IntRange) = numbers.forEach { add(stall(it)) }

    /** Blocks in the first call, until [release] opens. */
    private fun receive(stall: Stall) {
        begun.countDown()
        release.await()
        received += stall.startMs.toInt()
    }

    @Test
    fun `close returns after onStall has received every stall in order`() {
        val delivery = StallDelivery({ received += it.startMs.toInt() }, MINUTE_MS)
        delivery.addAll(1..100)
        delivery.close()
        assertEquals((1..100).toList(), received)
    }

    @Test
    fun `the oldest waiting stalls are dropped while onStall is slow`() {
        val delivery = StallDelivery(::receive, MINUTE_MS)
        delivery.add(stall(0))
        begun.await()
        delivery.addAll(1..StallDelivery.WAITING_MAX + 10)
        release.countDown()
        delivery.close()
        assertEquals(listOf(0) + (11..StallDelivery.WAITING_MAX + 10), received)
    }

    @Test
    fun `close interrupts an onStall that hangs, and drops the waiting stalls`() {
        val delivery = StallDelivery(::receive, closeMs = 1)
        delivery.add(stall(0))
        begun.await()
        delivery.add(stall(1))
        delivery.close()
        delivery.add(stall(2))
        release.countDown()
        delivery.close()
        assertFalse(1 in received || 2 in received)
    }

    @Test
    fun `close returns when onStall ignores interrupts, and the thread keeps its interrupt`() {
        val ended = CountDownLatch(1)
        val delivery =
            StallDelivery(
                {
                    begun.countDown()
                    while (release.count > 0) Thread.onSpinWait()
                    ended.countDown()
                },
                closeMs = 1,
            )
        delivery.add(stall(0))
        begun.await()
        Thread.currentThread().interrupt()
        delivery.close()
        assertTrue(Thread.interrupted())
        release.countDown()
        assertTrue(ended.await(60, TimeUnit.SECONDS))
    }

    @Test
    fun `onStall may close its delivery, and receives the waiting stalls afterwards`() {
        lateinit var delivery: StallDelivery
        val ended = CountDownLatch(2)
        delivery =
            StallDelivery(
                {
                    begun.await()
                    delivery.close()
                    received += it.startMs.toInt()
                    ended.countDown()
                },
                MINUTE_MS,
            )
        delivery.addAll(1..2)
        begun.countDown()
        assertTrue(ended.await(60, TimeUnit.SECONDS))
        assertEquals(listOf(1, 2), received)
    }

    private companion object {
        const val MINUTE_MS = 60_000L
    }
}

class OptimisedTest {
    @ParameterizedTest
    @CsvSource(
        "-Xint, -Xint",
        "-Xmx64m -XX:TieredStopAtLevel=1, -XX:TieredStopAtLevel=1",
        "-Djava.compiler=NONE, -Djava.compiler=NONE",
        "-XX:TieredStopAtLevel=4,",
        "-Xmx64m -XX:+UseSerialGC,",
    )
    @DisplayName("A report names the option that turns the optimising compiler off, and no other")
    fun namesTheOption(options: String, named: String?) {
        val why = named?.let { "the JVM runs with $it, without its optimising compiler" }
        assertEquals(why, unoptimised(options.split(" ")))
    }
}
