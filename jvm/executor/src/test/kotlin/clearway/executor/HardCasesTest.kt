// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor

import java.util.Collections
import java.util.concurrent.CancellationException
import java.util.concurrent.CompletableFuture
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.CountDownLatch
import java.util.concurrent.CyclicBarrier
import java.util.concurrent.ExecutionException
import java.util.concurrent.Executors
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.locks.ReentrantLock
import kotlin.concurrent.thread
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestFactory

class HardCasesTest : WithExecutor() {
    private val site = executor.site("hard")

    /** Makes the site known and warm by running trivial items. */
    private fun warm(of: Site = site) = repeat(200) { executor.runAll(of, 100) {} }

    @Test
    fun `every item runs once in every state of the site's model`() {
        forAll(batches, runs = 40) { (size, kind, known) ->
            val fresh = executor.site("once $kind $known")
            if (known) warm(fresh)
            val ran = IntArray(size)
            executor.runAll(fresh, size) {
                kind.run()
                synchronized(ran) { ran[it]++ }
            }
            assertTrue(ran.all { it == 1 }, "size=$size ran=${ran.toList()}")
        }
    }

    @Test
    fun `items that wait for each other finish on an unknown site`() {
        val barrier = CyclicBarrier(5)
        executor.runAll(site, 5) { barrier.await() }
    }

    @Test
    fun `items that wait for each other finish on a site that was trivial before`() {
        warm()
        val latch = CountDownLatch(1)
        executor.runAll(site, 100) { if (it == 3) latch.await() else if (it == 99) latch.countDown() }
        val all = CountDownLatch(20)
        executor.runAll(site, 20) {
            all.countDown()
            all.await()
        }
    }

    @Test
    fun `items that spin for each other finish`() {
        warm()
        val seen = AtomicInteger()
        executor.runAll(site, 50) { if (it == 0) while (seen.get() == 0) Thread.onSpinWait() else seen.set(1) }
    }

    @Test
    fun `items that wait for each other finish with one processor and one elastic thread`() {
        AdaptiveExecutor(processors = 1, elasticMax = 1).use { small ->
            val begun = AtomicInteger()
            small.runAll(small.site("spins"), 3) {
                begun.incrementAndGet()
                while (begun.get() < 3) if (Thread.interrupted()) throw InterruptedException() else Thread.onSpinWait()
            }
            val barrier = CyclicBarrier(3)
            small.runAll(small.site("sleeps"), 3) { barrier.await() }
        }
    }

    @Test
    fun `nested batches finish and run each item once`() {
        val inner = executor.site("inner")
        val innermost = executor.site("innermost")
        val count = AtomicInteger()
        repeat(20) {
            executor.runAll(site, 8) {
                executor.runAll(inner, 8) { executor.runAll(innermost, 8) { count.incrementAndGet() } }
            }
        }
        assertEquals(20 * 512, count.get())
    }

    @Test
    fun `a caller that waits with a lock runs only items of its own batch`() {
        val lock = ReentrantLock()
        val foreign = AtomicInteger()
        val other = executor.site("other")
        val stop = CountDownLatch(1)
        val busy = thread {
            while (stop.count > 0) executor.runAll(other, 20) {
                if (lock.isHeldByCurrentThread) foreign.incrementAndGet()
            }
        }
        repeat(200) {
            lock.lock()
            try {
                val both = CyclicBarrier(2)
                executor.runAll(site, 2) { both.await() }
            } finally {
                lock.unlock()
            }
        }
        stop.countDown()
        busy.join()
        assertEquals(0, foreign.get())
    }

    @Test
    fun `the first exception is thrown with the others suppressed, and no more items start`() {
        for (known in listOf(false, true)) {
            val fresh = executor.site("failing $known")
            if (known) warm(fresh)
            val begun = AtomicInteger()
            val thrown =
                assertThrows(IllegalStateException::class.java) {
                    executor.runAll(fresh, 10_000) {
                        begun.incrementAndGet()
                        if (it >= 3) throw IllegalStateException("item $it")
                    }
                }
            assertTrue(thrown.message!!.startsWith("item"))
            assertTrue(begun.get() < 200, "begun=$begun")
            // The executor continues to work.
            executor.runAll(fresh, 10) {}
        }
    }

    @Test
    fun `a caller that is already interrupted runs no item`() {
        Thread.currentThread().interrupt()
        assertThrows(InterruptedException::class.java) { executor.runAll(site, 1) { throw AssertionError() } }
        assertFalse(Thread.currentThread().isInterrupted)
    }

    @Test
    fun `an interrupt that an item leaves behind does not reach the next job of its thread`() {
        val leftOver = AtomicInteger()
        val me = Thread.currentThread()
        repeat(100) {
            val both = CyclicBarrier(2)
            executor.runAll(site, 2) {
                if (Thread.interrupted()) leftOver.incrementAndGet()
                both.await()
                if (Thread.currentThread() !== me) Thread.currentThread().interrupt()
            }
        }
        assertEquals(0, leftOver.get())
        assertFalse(me.isInterrupted)
    }

    @Test
    fun `every item sees the caller's carried thread-locals and class loader, which are restored after it`() {
        val carried = ThreadLocal<String>()
        val own = ThreadLocal<String>()
        val with = executor.site("carrying", SiteOptions().carry(carried))
        val plain = executor.site("plain")
        val loader = object : ClassLoader() {}
        val seen = ConcurrentHashMap.newKeySet<String>()
        val me = Thread.currentThread()
        val before = me.contextClassLoader
        carried.set("mine")
        me.contextClassLoader = loader
        val both = CyclicBarrier(2)
        executor.runAll(with, 2) {
            seen += carried.get()
            assertSame(loader, Thread.currentThread().contextClassLoader)
            if (Thread.currentThread() !== me) own.set("left behind")
            both.await()
        }
        assertEquals(setOf("mine"), seen)
        me.contextClassLoader = before
        val again = CyclicBarrier(2)
        executor.runAll(plain, 2) {
            if (Thread.currentThread() !== me) assertNull(carried.get())
            assertSame(before, Thread.currentThread().contextClassLoader)
            again.await()
        }
    }

    @Test
    fun `a thread that is interrupted in an item starts no other in any order of events`() {
        warm()
        for (known in listOf(executor.site("new"), site)) {
            repeat(100) { round ->
                val items = Hanging(1 + round % 2)
                val future = executor.runAllAsync(known, (0 until 40).toList()) { items.run() }
                items.begun.await()
                future.cancel(true)
            }
        }
        executor.shutdown()
        executor.close() // Returns when all batches have ended.
        assertTrue(executor.isTerminated)
    }

    @Test
    fun `an ordered site runs its items in order, one at a time`() {
        val ordered = executor.site("in order", SiteOptions().ordered())
        val seen = ArrayList<Int>() // Needs no lock: the site runs its items in order.
        repeat(50) {
            seen.clear()
            executor.runAll(ordered, 100) { seen += it }
            assertEquals((0 until 100).toList(), seen)
        }
        executor.runAllAsync(ordered, (0 until 100).toList()) { seen += it }.get()
        assertEquals(200, seen.size)
    }

    @Test
    fun `work that a batch starts after shutdown is accepted and finishes before termination`() {
        val begun = CountDownLatch(1)
        val shut = CountDownLatch(1)
        val inner = Collections.synchronizedList(ArrayList<Int>())
        val caller = thread {
            executor.runAll(site, 2) {
                begun.countDown()
                shut.await()
                executor.runAll(executor.site("inner"), 3) { inner += it }
            }
        }
        begun.await()
        executor.shutdown()
        assertFalse(executor.isTerminated)
        shut.countDown()
        caller.join()
        assertEquals(6, inner.size)
        assertTrue(executor.isTerminated)
    }
}

/** Tests what every function that runs a batch promises. */
class BatchCallsTest {
    /** Runs `item` for the numbers below `count`. Returns at the end of the batch, or returns the batch's future. */
    private class Call<out T>(
        val name: String,
        val start: AdaptiveExecutor.(site: Site, count: Int, item: (Int) -> Unit) -> T,
    )

    private val failing =
        listOf<Call<Any>>(
            Call("runAll") { site, count, item -> runAll(site, count) { item(it) } },
            Call("mapAll") { site, count, item -> mapAll(site, List(count) { it }) { item(it) } },
        )
    private val blocking =
        failing + Call("settleAll") { site, count, item -> settleAll(site, List(count) { it }) { item(it) } }
    private val later =
        listOf<Call<CompletableFuture<*>>>(
            Call("runAllAsync") { site, count, item -> runAllAsync(site, List(count) { it }) { item(it) } },
            Call("mapAllAsync") { site, count, item -> mapAllAsync(site, List(count) { it }) { item(it) } },
            Call("settleAllAsync") { site, count, item -> settleAllAsync(site, List(count) { it }) { item(it) } },
        )

    private fun <T> each(calls: List<Call<T>>, test: AdaptiveExecutor.(Call<T>) -> Unit): List<DynamicTest> =
        calls.map { call ->
            dynamicTest(call.name) {
                val executor = AdaptiveExecutor(processors = 2, elasticMax = 16)
                try {
                    executor.test(call)
                } finally {
                    executor.shutdownNow()
                    executor.close()
                }
            }
        }

    /** Runs a test with a site whose items run at the same time, and with an ordered one. */
    private fun AdaptiveExecutor.eachSite(test: (site: Site, items: Hanging) -> Unit) {
        test(site("any"), Hanging(2))
        test(site("ordered", SiteOptions().ordered()), Hanging(1))
    }

    @TestFactory
    fun `the first exception is thrown as the same object, and later ones are suppressed`() =
        each(failing) { call ->
            val thrown = List(2) { AssertionError("item $it") }
            val meet = CyclicBarrier(2)
            val first =
                assertThrows(AssertionError::class.java) {
                    call.start(this, site("fails"), 2) {
                        meet.await()
                        throw thrown[it]
                    }
                }
            assertTrue(thrown.any { it === first })
            assertSame(thrown.single { it !== first }, first.suppressed.single())
        }

    @TestFactory
    fun `an interrupt of the caller interrupts the items, whether they consume it or not, and is thrown`() =
        each(blocking) { call ->
            for (isConsumed in listOf(true, false)) eachSite { site, items ->
                val (caller, outcome) =
                    elsewhere {
                        call.start(this, site, 50) {
                            try {
                                items.run()
                            } catch (stop: InterruptedException) {
                                if (isConsumed) throw stop
                                Thread.currentThread().interrupt()
                            }
                        }
                    }
                items.begun.await()
                caller.interrupt()
                assertInstanceOf(InterruptedException::class.java, outcome.ended(), "$site, consumed: $isConsumed")
                assertTrue(items.interrupted.await(1, TimeUnit.MINUTES))
            }
        }

    @TestFactory
    fun `shutdownNow ends a call with a CancellationException and interrupts its items, the caller's too`() =
        each(failing) { call ->
            val items = Hanging(2)
            val (_, outcome) =
                elsewhere {
                    try {
                        call.start(this, site("stopped"), 50) { items.run() }
                    } finally {
                        check(!Thread.currentThread().isInterrupted) { "an interrupt was left" }
                    }
                }
            items.begun.await()
            shutdownNow()
            assertInstanceOf(CancellationException::class.java, outcome.ended())
            assertTrue(isShutdown)
            close()
            assertTrue(isTerminated)
        }

    @TestFactory
    fun `a cancelled future completes when its running items have ended, and no further item begins`() =
        each(later) { call ->
            eachSite { site, items ->
                val future = call.start(this, site, 100) { items.run() }
                items.begun.await()
                assertTrue(future.cancel(true))
                assertThrows(CancellationException::class.java) { future.ended() }
                assertTrue(future.isCancelled)
                assertEquals(0, items.running.get())
                assertTrue(items.calls.get() <= if (site.options.ordered) 1 else 18, "calls=${items.calls}")
            }
        }

    @TestFactory
    fun `a call after the shutdown is refused`() =
        each(blocking + later) { call ->
            shutdown()
            assertThrows(RejectedExecutionException::class.java) { call.start(this, site("late"), 1) {} }
        }

    @TestFactory
    fun `a call that blocks is refused on an event thread, and the error names two that do not`(): List<DynamicTest> {
        val read = Call<Any>("read") { site, count, item -> settleEach(site, 0 until count) { item(it) }.read()!! }
        return each(blocking + read) { call ->
            val events = Executors.newSingleThreadExecutor()
            try {
                registerEventThread(events.submit<Thread> { Thread.currentThread() }.get())
                val refused = events.submit { call.start(this, site("held"), 1) {} }
                val why = assertThrows(ExecutionException::class.java) { refused.get() }.cause
                assertInstanceOf(IllegalStateException::class.java, why)
                if (call !== read) assertTrue("use runAllAsync or mapAllAsync" in why?.message.orEmpty(), "$why")
                for (other in later) {
                    val started = events.submit<CompletableFuture<*>> { other.start(this, site("held"), 1) {} }
                    started.get().ended()
                }
            } finally {
                events.shutdownNow()
            }
        }
    }
}
