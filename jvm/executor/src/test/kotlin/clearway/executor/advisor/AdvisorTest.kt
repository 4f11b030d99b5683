// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.advisor

import clearway.executor.host.Clock
import clearway.executor.model.Costs
import clearway.executor.recorded
import java.time.Duration
import java.util.concurrent.AbstractExecutorService
import java.util.concurrent.Callable
import java.util.concurrent.ExecutorService
import java.util.concurrent.Executors
import java.util.concurrent.ForkJoinPool
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.TimeUnit
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class AdvisorTest {
    private val machine = SimulatedMachine(workers = 2)
    private val advisor = Advisor(processors = 2, machine)

    /** Runs bursts of `size` tasks through a watched executor of the machine. Returns the site's advice. */
    private fun site(name: String, size: Int, bursts: Int = 60, task: () -> Runnable): SiteAdvice {
        val watched = advisor.watch(machine.pool, name)
        repeat(bursts) {
            repeat(size) { watched.execute(task()) }
            machine.await()
        }
        return advisor.report().sites.single { it.name == name }
    }

    private fun SiteAdvice.first() = advice.first()

    @Test
    fun `the advice for tasks shorter than their hand-over is inline, with the speed-up`() {
        val site = site("parse", size = 1) { machine.Work(runNs = 5_000) }
        val advice = site.first()
        assertEquals(AdviceCode.INLINE to Sureness.HIGH, advice.code to advice.sureness)
        // On the pool, a task takes 40 us until a worker is awake, plus 5 us of work. Inline, it takes 5 us.
        assertEquals(9.0, advice.factor, 0.1)
        assertTrue(advice.text.startsWith("would be 9.0 times faster inline: a burst of 1 takes 45"), advice.text)
        assertEquals(advice.bursts, advice.agreeing)
        assertEquals(listOf(60L, 60L, 0L), listOf(site.tasks, site.bursts, site.sleptBursts))
    }

    @Test
    fun `close of a watched common pool returns`() {
        val watched = advisor.watch(ForkJoinPool.commonPool(), "common")
        watched.javaClass.getMethod("close").invoke(watched) // JDK 17 does not declare it.
        assertFalse(watched.isShutdown)
    }

    @Test
    fun `the advice for sleeping tasks is a thread per task, because they block a CPU worker`() {
        val few = Executors.newFixedThreadPool(2)
        val setting = Setting(processors = 2, threadsMax = 2) { 0 }
        few.shutdown()
        val site = site("mail", size = 20) { machine.Work(runNs = 100_000, sleepNs = 10_000_000) }
        assertEquals(AdviceCode.MORE_THREADS, site.first().code)
        // Twenty tasks of 10.1 ms take 101 ms on two workers. At the same time on twenty threads, they take 10.1 ms
        // plus the start of the threads.
        assertTrue(site.first().factor in 6.0..10.0) { site.first().text }
        assertEquals(site.bursts, site.sleptBursts)

        val statistics = SiteStatistics(Costs(2))
        repeat(40) { statistics.burst(burst(tasks = 4, runNs = 100_000, sleepNs = 10_000_000), collections = 0) }
        val advice = AdviceRules(setting).advice(statistics).first()
        assertEquals(AdviceCode.BLOCKS_CPU_WORKER, advice.code)
        assertTrue("sleeps for 10 ms of it, while its worker, one of 2, runs nothing else" in advice.text, advice.text)
    }

    @Test
    fun `the advice does not change when some bursts were preempted`() {
        val few = Setting(processors = 2, threadsMax = 2) { 0 }
        for (preempted in listOf(setOf(20), (0 until 60 step 8).toSet())) {
            val statistics = SiteStatistics(Costs(2))
            repeat(60) { n ->
                val offNs = if (n in preempted) 4_000_000L else 0
                statistics.burst(burst(tasks = 1, runNs = 5_000, sleepNs = offNs), collections = 0)
            }
            assertEquals(AdviceCode.INLINE, AdviceRules(few).advice(statistics).first().code, "$preempted")
        }
    }

    @Test
    fun `the advice for tasks that need processors is no more threads than those`() {
        val statistics = SiteStatistics(Costs(2))
        // A hundred threads share two processors. A burst then takes as long as on two threads, plus half as much for
        // the changes of threads.
        repeat(40) {
            statistics.burst(
                burst(tasks = 100, runNs = 1_000_000, sleepNs = 0, elapsedNs = 75_000_000),
                collections = 0,
            )
        }
        val advice = AdviceRules(Setting(2, Int.MAX_VALUE) { 0 }).advice(statistics)
        assertEquals(listOf(AdviceCode.FEWER_THREADS), advice.map { it.code })
        assertEquals(1.5, advice[0].factor, 0.1)
    }

    @Test
    fun `the advice is fine for a well-placed site and too early for a rarely seen one`() {
        assertEquals(AdviceCode.FINE, site("shrink", size = 8) { machine.Work(runNs = 3_000_000) }.first().code)
        val early = site("seldom", size = 1, bursts = 9) { machine.Work(runNs = 1_000) }
        assertEquals(AdviceCode.TOO_EARLY to Sureness.LOW, early.first().code to early.first().sureness)
        assertEquals(AdviceCode.TOO_EARLY, site("never", size = 0, bursts = 1) { machine.Work(0) }.first().code)
    }

    @Test
    fun `the advice for an event thread is inline only when work nearly always fits its budget`() {
        advisor.registerEventThread(Thread.currentThread(), Duration.ofNanos(100_000))
        assertEquals(AdviceCode.INLINE, site("tiny", size = 1) { machine.Work(runNs = 5_000) }.first().code)
        assertEquals(AdviceCode.FINE, site("longer", size = 1) { machine.Work(runNs = 90_000) }.first().code)
    }

    @Test
    fun `a budget that is longer than a Long of nanoseconds is no limit`() {
        advisor.registerEventThread(Thread.currentThread(), Duration.ofSeconds(Long.MAX_VALUE))
        assertEquals(AdviceCode.INLINE, site("tiny", size = 1) { machine.Work(runNs = 5_000) }.first().code)
    }

    @Test
    fun `the report gives text with numbers, and JSON, with sorted names`() {
        assertEquals("no site is watched", advisor.report().toString())
        site("b \"2\"", size = 1) { machine.Work(runNs = 5_000) }
        site("a", size = 1, bursts = 1) { machine.Work(runNs = 5_000) }
        val report = advisor.report()
        assertEquals(listOf("a", "b \"2\""), report.sites.map { it.name })
        assertTrue("a: too early to say: 0 bursts were compared (low" in report.toString(), report.toString())
        assertTrue("(high: 57 of 57 bursts agree, quartiles" in report.toString(), report.toString())
        assertTrue("60 tasks in 60 bursts of 1.0; per task: run time 5.0 us" in report.toString(), report.toString())
        val json = report.toJson()
        assertTrue(
            json.startsWith("{\"kind\":\"clearway-executor-advice\",\"version\":1,\"sites\":[{\"name\":\"a\""),
            json,
        )
        assertTrue("\"name\":\"b \\\"2\\\"\"" in json, json)
        assertTrue("\"advice\":[{\"code\":\"inline\",\"text\":\"would be" in json, json)
        assertFalse("NaN" in json, json)
    }

    @Test
    fun `a watched executor passes on refusals, leftover tasks and its end, and its name is unique`() {
        val watched = advisor.watch(machine.pool, "left")
        assertThrows(IllegalArgumentException::class.java) { advisor.watch(machine.pool, "left") }
        val task = machine.Work(runNs = 1)
        watched.execute(task)
        assertSame(task, watched.shutdownNow().single())
        assertThrows(RejectedExecutionException::class.java) { watched.execute(task) }
        assertTrue(watched.isShutdown && watched.isTerminated && watched.awaitTermination(0, TimeUnit.SECONDS))
        assertEquals(0L, advisor.report().sites.single().tasks)
    }

    @Test
    fun `all tasks on real threads are counted, and bursts are events of a flight recording`() {
        val live = Advisor()
        val pool = live.watch(Executors.newFixedThreadPool(4), "squares")
        try {
            val events =
                recorded("clearway.Burst") {
                    val squares = pool.invokeAll(List(500) { n -> Callable { n * n } })
                    assertEquals((0 until 500).sumOf { it * it }, squares.sumOf { it.get() })
                    pool.shutdown()
                    assertTrue(pool.awaitTermination(1, TimeUnit.MINUTES))
                }
            assertEquals(500L, live.report().sites.single().tasks)
            assertEquals(500, events.sumOf { it.getInt("tasks") })
            assertTrue(events.all { it.getString("site") == "squares" && !it.getDuration("length").isNegative })
        } finally {
            pool.shutdownNow()
        }
    }

    /** Returns a burst of tasks that all run at the same time, each on a thread of its own. */
    private fun burst(tasks: Int, runNs: Long, sleepNs: Long, elapsedNs: Long = runNs + sleepNs): Burst {
        val burst = Burst(firstNs = 0, collections = 0)
        repeat(tasks) { burst.submitted(Thread.currentThread(), isEventThread = false) }
        repeat(tasks) { burst.handedOver(1_000) }
        repeat(tasks) { burst.begun(submittedNs = 0, atNs = 40_000) }
        repeat(tasks) { burst.ended(40_000, 40_000 + runNs + sleepNs, runNs) }
        if (elapsedNs > burst.elapsedNs) {
            burst.submitted(Thread.currentThread(), isEventThread = false)
            burst.handedOver(0)
            burst.begun(0, elapsedNs - runNs)
            burst.ended(elapsedNs - runNs, elapsedNs, runNs)
        }
        return burst
    }
}

/**
 * A simulated machine with a fake clock. Each task states how long it runs and sleeps. Only hand-overs, tasks and
 * [await] move the clock.
 */
internal class SimulatedMachine(workers: Int, private val handNs: Long = 5_000, private val wakeNs: Long = 40_000) :
    Clock {
    private var nowNs = 1_000_000L
    private var cpuNs = 0L
    private val freeFromNs = LongArray(workers)
    private val queue = ArrayDeque<Pair<Long, Runnable>>()
    var isShut = false

    /** A task that runs and sleeps for the given times, for this machine's pool. */
    inner class Work(private val runNs: Long, private val sleepNs: Long = 0) : Runnable {
        override fun run() {
            nowNs += runNs + sleepNs
            cpuNs += runNs
        }
    }

    /**
     * A simulated pool. Its tasks wait until `await` is called, and each one then starts when a worker is free. The
     * tasks run on the calling thread; only the clock simulates the workers.
     */
    val pool: ExecutorService =
        object : AbstractExecutorService() {
            override fun execute(task: Runnable) {
                if (isShut) throw RejectedExecutionException("closed")
                queue += nowNs to task
                nowNs += handNs
            }

            override fun shutdown() {
                isShut = true
            }

            override fun shutdownNow(): MutableList<Runnable> {
                isShut = true
                return queue.map { it.second }.toMutableList().also { queue.clear() }
            }

            override fun isShutdown(): Boolean = isShut

            override fun isTerminated(): Boolean = isShut && queue.isEmpty()

            override fun awaitTermination(timeout: Long, unit: TimeUnit): Boolean = isTerminated
        }

    /**
     * Runs all submitted tasks, as if the caller waited for them. Then moves the clock, as if the caller did other
     * work.
     */
    fun await() {
        var endNs = nowNs
        while (queue.isNotEmpty()) {
            val (givenNs, task) = queue.removeFirst()
            val worker = freeFromNs.indices.minBy { freeFromNs[it] }
            nowNs = maxOf(givenNs + wakeNs, freeFromNs[worker])
            task.run()
            freeFromNs[worker] = nowNs
            endNs = maxOf(endNs, nowNs)
        }
        nowNs = endNs + BETWEEN_NS
    }

    override fun nanoTime(): Long = nowNs

    override fun threadCpuNs(): Long = cpuNs

    override fun cpuNsOf(thread: Thread): Long = -1

    override fun processCpuNs(): Long = -1

    override fun collections(): Long = 0

    private companion object {
        const val BETWEEN_NS = 1_000_000L
    }
}
