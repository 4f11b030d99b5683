// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.published

import io.reactivex.rxjava3.plugins.RxJavaPlugins
import java.util.AbstractList
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.CyclicBarrier
import java.util.concurrent.ForkJoinPool
import java.util.concurrent.ThreadPoolExecutor
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Dispatchers
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertAll

/** The structure of each published way, by what it does: threads, tasks, Completables, coroutines, flows. */
internal class StructureTest {
    private val list = List(100) { it }

    /** Returns the threads that ran the actions of one list. */
    private fun threadsOf(way: Way): Set<Thread> {
        val threads = ConcurrentHashMap.newKeySet<Thread>()
        way.run(list) { threads.add(Thread.currentThread()) }
        return threads
    }

    private fun threadsOf(name: String): Set<Thread> = Ways.named(name).open().use(::threadsOf)

    /** Runs a list whose first `atOnce` actions wait for each other. Fails if they do not run at the same time. */
    private fun runsAtOnce(way: Way, atOnce: Int): Set<Thread> {
        val threads = ConcurrentHashMap.newKeySet<Thread>()
        val barrier = CyclicBarrier(atOnce)
        way.run(List(atOnce) { it }) {
            threads.add(Thread.currentThread())
            barrier.await(60, TimeUnit.SECONDS)
        }
        return threads
    }

    private fun runsAtOnce(name: String, atOnce: Int): Set<Thread> =
        Ways.named(name).open().use { runsAtOnce(it, atOnce) }

    /** Returns the largest number of actions that ran at the same time. */
    private fun mostAtOnce(name: String): Int {
        val running = AtomicInteger()
        val most = AtomicInteger()
        Ways.named(name).open().use { way ->
            way.run(list) {
                most.accumulateAndGet(running.incrementAndGet(), ::maxOf)
                Thread.yield()
                running.decrementAndGet()
            }
        }
        return most.get()
    }

    /** A list that counts which items have been read. */
    private class ReadList : AbstractList<Int>() {
        val read = AtomicInteger()
        override val size = 100

        override fun get(index: Int): Int = index.also { read.incrementAndGet() }
    }

    /** Returns how many items of the list had been read when the first action ran. */
    private fun readBeforeFirst(name: String): Int {
        val list = ReadList()
        var first = 0
        Ways.named(name).open().use { way ->
            way.run(list) { seed ->
                if (first == 0) first = list.read.get()
                seed
            }
        }
        return first
    }

    @Test
    fun `the way without a framework runs each action on the calling thread before it reads the next item`() {
        assertEquals(setOf(Thread.currentThread()), threadsOf("direct"))
        assertEquals(1, readBeforeFirst("direct"))
    }

    @Test
    fun `coroutines and flows without a dispatcher run on the calling thread, after one was made for each item`() {
        for (name in listOf("coroutines-blocking", "flow")) {
            assertEquals(setOf(Thread.currentThread()), threadsOf(name), name)
            assertEquals(100, readBeforeFirst(name), name)
        }
    }

    @Test
    fun `RxJava makes one Completable per action, subscribes each on the scheduler, and merges them`() {
        for (name in listOf("rxjava-single", "rxjava-computation", "rxjava-io")) {
            val made = ConcurrentHashMap<String, Int>()
            RxJavaPlugins.setOnCompletableAssembly { each ->
                made.merge(each.javaClass.simpleName, 1, Int::plus)
                each
            }
            try {
                Ways.named(name).open().use { it.run(list) { seed -> seed } }
            } finally {
                RxJavaPlugins.setOnCompletableAssembly(null)
            }
            assertEquals(100, made["CompletableFromAction"], name)
            assertEquals(100, made["CompletableSubscribeOn"], name)
            val others = made.keys.filter { it != "CompletableFromAction" && it != "CompletableSubscribeOn" }
            assertTrue(others.single().startsWith("CompletableMerge"), "$name: $others")
        }
    }

    @Test
    fun `RxJava's schedulers run actions on one other thread, on as many as cores, and on one for each`() {
        val single = threadsOf("rxjava-single")
        val computation = threadsOf("rxjava-computation")
        val io = runsAtOnce("rxjava-io", 100)
        assertAll(
            { assertTrue(single.single().name.startsWith("RxSingleScheduler")) },
            { assertEquals(PROCESSORS, computation.size) },
            { assertTrue(computation.all { it.name.startsWith("RxComputationThreadPool") }) },
            { assertEquals(100, io.size) },
            { assertTrue(io.all { it.name.startsWith("RxCachedThreadScheduler") }) },
        )
    }

    /** A dispatcher that counts the tasks it gets. */
    private class Counting(private val inner: CoroutineDispatcher) : CoroutineDispatcher() {
        val tasks = AtomicInteger()

        override fun dispatch(context: CoroutineContext, block: Runnable) {
            tasks.incrementAndGet()
            inner.dispatch(context, block)
        }
    }

    @Test
    fun `coroutines move each action to the dispatcher by one task of its own`() {
        val dispatcher = Counting(Dispatchers.Default)
        val threads = threadsOf(AsyncsOn(dispatcher))
        assertEquals(100, dispatcher.tasks.get())
        assertTrue(threads.all { it.name.startsWith("DefaultDispatcher-worker") })
    }

    @Test
    fun `flows run each action in a flow of its own on the dispatcher`() {
        val dispatcher = Counting(Dispatchers.Default)
        val threads = threadsOf(FlowsOn(dispatcher))
        assertTrue(dispatcher.tasks.get() >= 100, "tasks=${dispatcher.tasks}")
        assertTrue(threads.all { it.name.startsWith("DefaultDispatcher-worker") })
    }

    @Test
    fun `Default runs as many actions at the same time as there are cores, and its limited view no more than that`() {
        for (name in
            listOf(
                "coroutines-default",
                "flow-default",
                "coroutines-default-limited",
                "flow-default-limited",
            )) runsAtOnce(name, PROCESSORS)
        for (name in listOf("coroutines-default-limited", "flow-default-limited")) assertTrue(
            mostAtOnce(name) <= PROCESSORS,
            name,
        )
    }

    @Test
    fun `the view of Default that is limited to its own number of threads is Default itself`() {
        // The authors' version of the library made a view of its own, with a queue.
        if (PROCESSORS >= 2) assertSame(Dispatchers.Default, Dispatchers.Default.limitedParallelism(PROCESSORS))
    }

    @Test
    fun `IO runs 64 actions at the same time, and merge of a list of flows has no limit of its own below that`() {
        for (name in listOf("coroutines-io", "flow-io")) {
            val threads = runsAtOnce(name, 64)
            assertEquals(64, threads.size, name)
            assertTrue(threads.all { it.name.startsWith("DefaultDispatcher-worker") }, name)
        }
    }

    @Test
    fun `a fixed pool has as many threads as cores or a hundred, and gets one task per action`() {
        for ((name, threads) in listOf("fixed-pool" to PROCESSORS, "fixed-100" to 100)) {
            val way = Ways.named(name).open() as Submitting
            way.use { assertEquals(threads, threadsOf(way).size, name) }
            val pool = way.executor as ThreadPoolExecutor
            assertEquals(100, pool.completedTaskCount, name)
            assertTrue(pool.isTerminated, name)
        }
        runsAtOnce("fixed-100", 100)
    }

    @Test
    fun `a work-stealing pool has a parallelism of the cores or of a hundred, and takes tasks in their order`() {
        for ((name, parallelism) in listOf("work-stealing" to PROCESSORS, "work-stealing-100" to 100)) {
            val way = Ways.named(name).open() as Submitting
            val threads = way.use(::threadsOf)
            val pool = way.executor as ForkJoinPool
            assertEquals(parallelism, pool.parallelism, name)
            assertTrue(pool.asyncMode, name)
            // Some JDKs let the thread that waits for a task run it.
            assertTrue((threads - Thread.currentThread()).all { "ForkJoinPool" in it.name }, name)
            assertTrue(pool.isTerminated, name)
        }
    }

    @Test
    fun `the lab's own ways are the strategies of works under names that no published way has`() {
        val own = Ways.all.filter { !it.isPublished }.map { it.name }
        assertTrue("clearway-adaptive" in own && "virtual-threads" in own && "fixed-100-invokeall" in own)
        assertTrue(own.none { name -> Ways.all.any { it.isPublished && it.name == name } })
    }
}
