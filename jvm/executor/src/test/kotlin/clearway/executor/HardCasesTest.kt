// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor

import java.util.Collections
import java.util.concurrent.CancellationException
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.CountDownLatch
import java.util.concurrent.CyclicBarrier
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicReference
import java.util.concurrent.locks.ReentrantLock
import kotlin.concurrent.thread
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class HardCasesTest {
    private val executor = AdaptiveExecutor(processors = 2, elasticMax = 64)
    private val site = executor.site("hard")

    @AfterEach
    fun close() {
        executor.shutdownNow()
        executor.close()
    }

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
    fun `errors on two threads at once are thrown once, with the second suppressed`() {
        val barrier = CyclicBarrier(2)
        val thrown =
            assertThrows(AssertionError::class.java) {
                executor.runAll(site, 2) {
                    barrier.await()
                    throw AssertionError("item $it")
                }
            }
        assertEquals(1, thrown.suppressed.size)
    }

    @Test
    fun `an interrupted caller ends its batch, interrupts the helpers and gets an InterruptedException`() {
        val both = CountDownLatch(2)
        val interrupted = AtomicInteger()
        val outcome = AtomicReference<Throwable>()
        val caller = thread {
            try {
                executor.runAll(site, 50) {
                    both.countDown()
                    try {
                        CountDownLatch(1).await()
                    } catch (stop: InterruptedException) {
                        interrupted.incrementAndGet()
                        Thread.currentThread().interrupt()
                    }
                }
            } catch (thrown: Throwable) {
                outcome.set(thrown)
            }
            outcome.compareAndSet(null, AssertionError("no exception"))
        }
        both.await()
        caller.interrupt()
        caller.join()
        assertTrue(outcome.get() is InterruptedException, "outcome=${outcome.get()}")
        assertTrue(interrupted.get() >= 2)
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
    fun `shutdownNow ends a batch with a CancellationException and interrupts its items, the caller's too`() {
        val both = CountDownLatch(2)
        val outcome = AtomicReference<Throwable>()
        val caller = thread {
            try {
                executor.runAll(site, 50) {
                    both.countDown()
                    CountDownLatch(1).await()
                }
            } catch (thrown: Throwable) {
                outcome.set(thrown)
            }
            if (Thread.currentThread().isInterrupted) outcome.set(AssertionError("an interrupt was left"))
        }
        both.await()
        executor.shutdownNow()
        caller.join()
        assertTrue(outcome.get() is CancellationException, "outcome=${outcome.get()}")
        assertTrue(executor.isShutdown)
        executor.close()
        assertTrue(executor.isTerminated)
    }

    @Test
    fun `a thread that is interrupted in an item starts no other in any order of events`() {
        warm()
        for (known in listOf(executor.site("new"), site)) {
            repeat(100) { round ->
                val begun = CountDownLatch(1 + round % 2)
                val future =
                    executor.runAllAsync(known, (0 until 40).toList()) {
                        begun.countDown()
                        CountDownLatch(1).await() // Only an interrupt ends this wait.
                    }
                begun.await()
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
