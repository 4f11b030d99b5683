// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor

import clearway.executor.host.Clock
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Executor
import java.util.concurrent.ExecutorCompletionService
import java.util.concurrent.FutureTask
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicLong
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotEquals
import org.junit.jupiter.api.Assertions.assertNotSame
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Tests which site a name or a task gets, and how many sites there can be. */
class SitesTest : WithExecutor(elasticMax = 4) {
    private val user = ThreadLocal<String>()
    private val locale = ThreadLocal<String>()

    @Test
    fun `options stay as they are when others are made from them`() {
        val plain = SiteOptions()
        val ordered = plain.ordered()
        ordered.carry(user)
        assertEquals("default", plain.toString())
        assertEquals("ordered", ordered.toString())
        assertEquals("ordered, carry=1", ordered.carry(user, user).toString())
    }

    @Test
    fun `options are equal if they name the same order and the same thread-locals`() {
        assertEquals(SiteOptions().carry(user, locale).ordered(), SiteOptions().ordered().carry(locale).carry(user))
        assertEquals(SiteOptions().carry(user).hashCode(), SiteOptions().carry(user).hashCode())
        assertNotEquals(SiteOptions().carry(user), SiteOptions().carry(locale))
        assertNotEquals(SiteOptions(), SiteOptions().ordered())
    }

    @Test
    fun `a site is the same when its name and options are the same`() {
        val mail = executor.site("mail", SiteOptions().ordered().carry(user))
        assertSame(mail, executor.site("mail", SiteOptions().carry(user).ordered()))
        assertSame(mail, executor.site("mail"))
    }

    @Test
    fun `a site is refused with an error that names both options when its options differ`() {
        executor.site("mail", SiteOptions().ordered())
        val thrown =
            assertThrows(SiteMismatchException::class.java) { executor.site("mail", SiteOptions().carry(user)) }
        assertEquals("mail", thrown.name)
        assertEquals(SiteOptions().ordered(), thrown.existing)
        assertEquals(SiteOptions().carry(user), thrown.requested)
        assertTrue("existing=(ordered), requested=(carry=1)" in thrown.message!!, thrown.message)
        assertThrows(SiteMismatchException::class.java) { executor.site("mail", SiteOptions()) }
        executor.site("plain")
        assertThrows(SiteMismatchException::class.java) { executor.site("plain", SiteOptions().ordered()) }
    }

    @Test
    fun `a site is refused with an error that names the limit when there are too many names`() {
        val sites = Sites(namedMax = 3)
        val known = List(3) { sites.named("site $it") }
        val thrown = assertThrows(TooManySitesException::class.java) { sites.named("user 4711") }
        assertEquals("user 4711", thrown.name)
        assertEquals(3, thrown.sitesMax)
        assertThrows(TooManySitesException::class.java) { sites.named("user 4711", SiteOptions()) }
        assertEquals(known, List(3) { sites.named("site $it") })
    }

    @Test
    fun `a task has the site of its class, also when that site was named before`() {
        val task = Runnable {}
        val named = executor.site(task.javaClass.name)
        repeat(3) { executor.submit(task).get() }
        assertSame(named, executor.known.single { it.name == task.javaClass.name })
    }

    @Test
    fun `a code site that is used often is kept, and one that is not used is dropped`() {
        val sites = RecentSites(8)
        val often = sites["often"]
        val once = sites["once"]
        repeat(1_000) {
            sites["other $it"]
            assertSame(often, sites["often"])
            assertTrue(sites.size <= 8, "size=${sites.size}")
        }
        assertNotSame(once, sites["once"])
    }

    /** Its copies are the generated classes. */
    internal class Generated : Runnable {
        override fun run() {}
    }

    @Test
    fun `generated classes make a limited number of sites`() {
        val name = Generated::class.java.name
        val bytes =
            javaClass.classLoader.getResourceAsStream(name.replace('.', '/') + ".class")!!.use { it.readBytes() }
        val lookup = java.lang.invoke.MethodHandles.lookup()
        val ended = CountDownLatch(2_000)
        repeat(2_000) {
            val copy = lookup.defineHiddenClass(bytes, false).lookupClass().getDeclaredConstructor().newInstance()
            executor.submit(copy as Runnable).get()
            ended.countDown()
        }
        ended.await()
        assertTrue(executor.status().sites <= Sites.CODE_MAX, executor.status().toString())
    }
}

class SinglesMeasuredTest {
    /** A clock whose readings take 100 ns each. It counts the readings of CPU time. */
    private class Counted : Clock {
        val now = AtomicLong()
        val cpuReadings = AtomicInteger()

        override fun nanoTime(): Long = now.addAndGet(100)

        override fun threadCpuNs(): Long = now.get().also { cpuReadings.incrementAndGet() }

        override fun cpuNsOf(thread: Thread): Long = -1

        override fun processCpuNs(): Long = -1

        override fun collections(): Long = 0
    }

    private val clock = Counted()
    private val executor = AdaptiveExecutor(processors = 1, elasticMax = 4, clock)
    private val ordered: Executor = executor.asExecutorService(executor.site("ordered", SiteOptions().ordered()))

    @AfterEach fun close(): Unit = executor.close()

    /**
     * Returns how often the executor reads the CPU time during `count` tasks. Each task begins when the task before has
     * ended.
     */
    private fun readings(count: Int, task: () -> Unit): Int {
        val before = clock.cpuReadings.get()
        repeat(count) { one(task) }
        one {} // When this task has ended, the executor has learnt from the one before.
        return clock.cpuReadings.get() - before
    }

    private fun one(task: () -> Unit) {
        val done = FutureTask(task, Unit)
        ordered.execute(done)
        done.get()
    }

    @Test
    fun `a task can wait for a later one on one processor and a site that never waited`() {
        val site = executor.asExecutorService(executor.site("never waited"))
        repeat(300) { site.submit {}.get() }
        val later = CountDownLatch(1)
        val waits = site.submit { later.await() }
        site.submit { later.countDown() }
        waits.get()
    }

    @Test
    fun `one of many trivial tasks is measured when the site is known`() {
        val cold = readings(4) {}
        assertTrue(cold >= 8, "cold=$cold")
        val warm = readings(640) {}
        assertTrue(warm in 10..30, "warm=$warm")
    }

    @Test
    fun `all next tasks are measured after a long unmeasured one`() {
        readings(10) {}
        one { clock.now.addAndGet(5_000_000) }
        val watched = readings(32) {}
        assertTrue(watched >= 60, "watched=$watched")
    }
}

/** Tests the sites of tasks whose class belongs to the JDK. */
class CallerCodeTest : WithExecutor(elasticMax = 4) {
    private fun names() = executor.known.map { it.name }.sorted()

    private fun supply() = CompletableFuture.supplyAsync({ 1 }, executor)

    private fun runOne() = CompletableFuture.runAsync({}, executor)

    @Test
    fun `supplyAsync and runAsync have the site of the code that calls them`() {
        repeat(3) { supply().ended() }
        repeat(3) { runOne().ended() }
        val (run, supply) = names()
        assertTrue(Regex("clearway.executor.CallerCodeTest.runOne:\\d+").matches(run), run)
        assertTrue(Regex("clearway.executor.CallerCodeTest.supply:\\d+").matches(supply), supply)
    }

    @Test
    fun `two lines of one function have two sites, which learn apart`() {
        val waits = { Thread.sleep(2) }
        // A warm site of trivial tasks is measured seldom. These tasks are too few to make it warm.
        repeat(3) {
            CompletableFuture.runAsync(waits, executor).ended()
            CompletableFuture.runAsync({}, executor).ended()
        }
        executor.close() // A task is learnt after its future has ended.
        val lines = executor.known.sortedBy { it.name }
        assertEquals(2, lines.size)
        assertTrue(lines[0].needsElastic)
        assertEquals(listOf(3, 3), lines.map { it.model.batches })
    }

    @Test
    fun `thenApplyAsync of an ended future has the site of the code that calls it`() {
        val ended = CompletableFuture.completedFuture(1)
        ended.thenApplyAsync({ it + 1 }, executor).ended()
        assertTrue(Regex(".*CallerCodeTest.*:\\d+").matches(names().single()), names().single())
    }

    @Test
    fun `a stage that depends on a running task has a site that is named after the task's`() {
        val go = CountDownLatch(1)
        fun waiting() = CompletableFuture.supplyAsync({ go.await().let { 1 } }, executor)
        val first = waiting().thenApplyAsync({ it + 1 }, executor).thenAcceptAsync({}, executor)
        go.countDown()
        first.ended()
        val names = names()
        assertEquals(3, names.size, names.toString())
        assertEquals("${names[0]} > UniApply", names[1])
        assertEquals("${names[0]} > UniApply > UniAccept", names[2])
    }

    @Test
    fun `an endless chain of stages makes few sites`() {
        val go = CountDownLatch(1)
        var last = CompletableFuture.supplyAsync({ go.await().let { 0 } }, executor)
        repeat(200) { last = last.thenApplyAsync({ it + 1 }, executor) }
        go.countDown()
        assertEquals(200, last.ended())
        assertTrue(names().size <= 5, names().toString())
    }

    @Test
    fun `a stage that a thread of the app completes has the site of the code that completes it`() {
        val future = CompletableFuture<Int>()
        val next = future.thenApplyAsync({ it + 1 }, executor)
        future.complete(1)
        next.ended()
        assertTrue("CallerCodeTest" in names().single(), names().single())
    }

    @Test
    fun `a completion service and a FutureTask have the site of the code that submits`() {
        val service = ExecutorCompletionService<Int>(executor)
        service.submit { 1 }
        assertEquals(1, service.take().get())
        val task = FutureTask { 2 }
        executor.execute(task)
        assertEquals(2, task.ended())
        assertTrue(names().all { "CallerCodeTest" in it }, names().toString())
        assertEquals(2, names().size)
    }

    @Test
    fun `a task that only the JDK submits has the site of its class`() {
        val delayed = CompletableFuture.delayedExecutor(1, TimeUnit.MILLISECONDS, executor)
        CompletableFuture.runAsync({}, delayed).ended()
        assertTrue(names().single().startsWith("java.util.concurrent.CompletableFuture$"), names().toString())
    }
}
