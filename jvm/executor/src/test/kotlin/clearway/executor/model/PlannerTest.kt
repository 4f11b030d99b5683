// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.model

import clearway.executor.AdaptiveExecutor
import clearway.executor.forAll
import clearway.executor.host.Processors
import clearway.executor.host.Scheduler
import io.kotest.property.Arb
import io.kotest.property.arbitrary.bind
import io.kotest.property.arbitrary.double
import io.kotest.property.arbitrary.element
import io.kotest.property.arbitrary.int
import io.kotest.property.arbitrary.long
import java.nio.file.Files
import java.nio.file.Path
import java.util.PriorityQueue
import java.util.Random
import kotlin.math.pow
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.CsvSource

class PlannerTest {
    private val costs = Costs(processors = 2)
    private val model = SiteModel()
    private val planner = Planner(model)

    private fun settle(itemNs: Double, cpuShare: Double, size: Int = 100, batches: Int = 40): Plan {
        World(costs, seed = 1, itemNs = { itemNs }, cpuShare = cpuShare).play(model, planner, costs, size, batches)
        return planner.plan(size, costs)
    }

    @Test
    fun `trivial items run inline and in bulk, and are timed sometimes`() {
        val plan = settle(itemNs = 10.0, cpuShare = 1.0)
        assertEquals(Placement.INLINE, plan.place)
        assertTrue(plan.bulk)
        assertFalse(plan.timeItems)
        var batches = 0
        var timed = 0
        while (batches < 1_000) {
            val next = planner.plan(100, costs)
            batches += next.serves
            if (next.timeBatch) timed++
        }
        // One plan serves all batches between two timed ones.
        assertTrue(timed in 5..20, "timed=$timed")
    }

    @Test
    fun `trivial batches return to their caller's thread although they keep the workers awake`() {
        val awake = costs.copy(offerNs = 100, wakeNs = 150)
        var itemNs = 1_000.0
        val world = World(awake, seed = 4, itemNs = { itemNs }, cpuShare = 1.0)
        world.play(model, planner, awake, size = 100, batches = 40)
        assertEquals(Placement.CPU, planner.plan(100, awake).place)
        itemNs = 10.0
        world.play(model, planner, awake, size = 100, batches = 40)
        assertEquals(Placement.INLINE, planner.plan(100, awake).place)
    }

    @Test
    fun `long arithmetic runs on the CPU workers`() {
        assertEquals(Placement.CPU, settle(itemNs = 1e6, cpuShare = 1.0).place)
    }

    @Test
    fun `sleeping items get a thread each`() {
        val plan = settle(itemNs = 5e6, cpuShare = 0.001)
        assertEquals(Placement.ELASTIC, plan.place)
        assertTrue(plan.helpers > 50, "helpers=${plan.helpers}")
        assertEquals(1, plan.chunk)
        assertTrue(model.mayBlock)
    }

    @Test
    fun `sleeping items get a thread each, also where starting a thread is expensive`() {
        // With seven threads less than items, the last seven items begin when the first ones have ended.
        for (startNs in listOf(700L, 5_000L, 10_000L, 15_000L)) {
            val dear = costs.copy(startNs = startNs, startedNs = startNs * 4)
            val site = SiteModel()
            val plans = Planner(site)
            World(dear, seed = 5, itemNs = { 1e6 }, cpuShare = 0.01).play(site, plans, dear, size = 100, batches = 40)
            val plan = plans.plan(100, dear)
            assertEquals(Placement.ELASTIC, plan.place)
            assertEquals(99, plan.helpers, "startNs=$startNs")
        }
    }

    @Test
    fun `a site that blocked is planned quickly when its items become immeasurably short`() {
        for (itemNs in listOf(0L, 1L)) {
            val site = SiteModel()
            val plans = Planner(site)
            repeat(10) { site.observe(Observation(Placement.ELASTIC, 100, 100_000_000, 1_500_000, slept = true)) }
            repeat(10) { site.observe(Observation(Placement.ELASTIC, 100, itemNs * 100, 1_000)) }
            assertTrue(site.mayBlock && site.itemNs <= 1.0, "itemNs=${site.itemNs}")
            repeat(1_000) { plans.plan(100, costs) }
            repeat(1_000) { plans.plan(1_000, costs.copy(startNs = 1_000_000)) }
        }
    }

    @Test
    fun `a site with few slow starts does not start threads that come too late`() {
        val dear = costs.copy(startNs = 100_000, startedNs = 200_000)
        World(dear, seed = 6, itemNs = { 1e6 }, cpuShare = 0.01).play(model, planner, dear, size = 100, batches = 40)
        val plan = planner.plan(100, dear)
        assertEquals(Placement.ELASTIC, plan.place)
        assertTrue(plan.helpers in 8..40, "helpers=${plan.helpers}")
    }

    @Test
    fun `a bimodal site with few blocking items gets elastic threads`() {
        val twoKinds = { random: Random -> if (random.nextInt(10) == 0) 5e6 else 1e3 }
        val world = World(costs, seed = 2, itemNs = twoKinds, cpuShare = 0.01)
        val times = world.play(model, planner, costs, size = 100, batches = 200).drop(20)
        val best = List(200) { world.bestNs(100) }
        assertEquals(Placement.ELASTIC, planner.plan(100, costs).place)
        assertTrue(times.average() / best.average() < 1.15, "regret=${times.average() / best.average()}")
    }

    @Test
    fun `a site that blocked runs in bulk again after about two hundred trivial batches`() {
        settle(itemNs = 5e6, cpuShare = 0.001)
        val before = settle(itemNs = 10.0, cpuShare = 1.0, batches = 150)
        assertFalse(before.bulk)
        val after = settle(itemNs = 10.0, cpuShare = 1.0, batches = 100)
        assertTrue(after.bulk)
    }

    @Test
    fun `an unknown site is claimed and timed item by item, with a request for help after two wake times`() {
        val plan = planner.plan(1000, costs)
        assertEquals(Placement.INLINE, plan.place)
        assertEquals(1, plan.chunk)
        assertFalse(plan.bulk)
        assertTrue(plan.timeItems && plan.readCpu)
        assertEquals(costs.wakeNs * 2, plan.helpAfterNs)
    }

    @Test
    fun `no clock is read when its cost exceeds a hundredth of the measured time`() {
        forAll(Arb.bind(Arb.double(1.0, 7.0), Arb.int(2, 500)) { exponent, size -> 10.0.pow(exponent) to size }) {
            (itemNs, size) ->
            val site = SiteModel()
            val plans = Planner(site)
            World(costs, seed = 3, itemNs = { itemNs }, cpuShare = 1.0).play(site, plans, costs, size, 20)
            val plan = plans.plan(size, costs)
            val perThread = site.itemNs * size / (plan.helpers + 1)
            if (plan.timeItems) assertTrue(costs.clockNs * 2 <= site.itemNs * 0.01)
            if (plan.readCpu) assertTrue(costs.cpuClockNs * 2 <= perThread * 0.01)
        }
    }

    @Test
    fun `a steady site loses a fifth at most against the best place, also when the costs are a third wrong`() {
        val worlds =
            Arb.bind(
                Arb.double(1.0, 7.0),
                Arb.element(1.0, 0.001),
                Arb.int(2, 200),
                Arb.element(0.75, 1.0, 1.33),
                Arb.long(1L, 1L shl 30),
            ) { exponent, cpuShare, size, wrong, seed ->
                // A sleep takes at least 20 us: the precision of a timer.
                val itemNs = if (cpuShare < 1.0) maxOf(10.0.pow(exponent), 2e4) else 10.0.pow(exponent)
                Case(itemNs, cpuShare, size, wrong, seed)
            }
        forAll(worlds, runs = 25) { case ->
            val real = Costs(2, wakeNs = (40_000 * case.wrong).toLong(), startedNs = (60_000 * case.wrong).toLong())
            val site = SiteModel()
            val world = World(real, case.seed, itemNs = { case.itemNs }, cpuShare = case.cpuShare)
            val times = world.play(site, Planner(site), costs, case.size, 600).drop(100)
            val best = List(500) { world.bestNs(case.size) }
            val regret = times.average() / best.average()
            // The most is lost just below the time from which help pays: 1.17 times if a cost is believed a third too
            // high, and 1.12 times with the right costs, for four sleeps.
            assertTrue(regret <= 1.20, "regret=$regret $case")
        }
    }

    data class Case(val itemNs: Double, val cpuShare: Double, val size: Int, val wrong: Double, val seed: Long)
}

/**
 * A simulated machine and site, without threads. It computes how long a plan takes, with other formulas than
 * [Prediction].
 */
internal class World(
    /** The real costs, which may differ from the costs that the planner assumes. */
    private val costs: Costs,
    seed: Long,
    private val noise: Double = 0.05,
    /** Returns the wall time of one item, in ns. */
    var itemNs: (Random) -> Double,
    /** Share of an item's wall time that needs a processor. */
    var cpuShare: Double,
) {
    private val random = Random(seed)

    /** Simulates one batch of a plan, and returns the observation that the executor would make. */
    fun run(plan: Plan, size: Int): Observation {
        val items = DoubleArray(size) { itemNs(random) * (1 + noise * (random.nextDouble() * 2 - 1)) }
        val elapsed = elapsedNs(plan.place, plan.helpers, items)
        val sum = items.sum().toLong()
        val buckets = IntArray(DurationHistogram.BUCKETS)
        for (ns in items) buckets[DurationHistogram.bucketOf(ns.toLong())]++
        return Observation(
            plan.place,
            if (plan.timeBatch) size else 0,
            sum,
            elapsed.toLong(),
            cpuItems = if (plan.readCpu) size else 0,
            cpuWallNs = sum,
            cpuNs = (sum * cpuShare).toLong(),
            buckets = if (plan.timeItems) buckets else null,
            predictedNs = plan.predictedNs,
        )
    }

    /**
     * Returns the time of such a batch in the best place, in ns. As numbers of elastic threads, it tries powers of two
     * and one per item; for items that never sleep, one per processor. A system's time slices are longer than most
     * items, so that more threads would not end those sooner, although [elapsedNs] divides the processors at any
     * moment.
     */
    fun bestNs(size: Int): Double {
        val items = DoubleArray(size) { itemNs(random) }
        val most = minOf(size, if (cpuShare < 1.0) size else costs.processors) - 1
        val elastic = generateSequence(1) { it * 2 }.takeWhile { it < most } + sequenceOf(most)
        return minOf(
            elapsedNs(Placement.INLINE, 0, items),
            elapsedNs(Placement.CPU, costs.processors - 1, items),
            elastic.filter { it > 0 }.minOfOrNull { elapsedNs(Placement.ELASTIC, it, items) } ?: Double.MAX_VALUE,
        )
    }

    fun elapsedNs(place: Placement, helpers: Int, items: DoubleArray): Double {
        val (hand, awake) =
            if (place == Placement.ELASTIC) costs.startNs to costs.startedNs else costs.offerNs to costs.wakeNs
        val free = PriorityQueue<Double>()
        free += hand.toDouble() * helpers
        for (helper in 1..helpers) free += (hand * helper + awake).toDouble()
        val inOrder = items.iterator()
        var end = 0.0
        while (inOrder.hasNext()) {
            val start = free.poll()
            val stop = start + inOrder.next()
            end = maxOf(end, stop)
            free += stop
        }
        if (helpers == 0) return end
        // If there are more threads than processors, they share the processors. Before the first helper joins, the
        // caller uses one processor alone.
        return maxOf(end, (items.sum() * cpuShare + awake) / minOf(helpers + 1, costs.processors))
    }
}

/**
 * Plans batches of a site and learns from them, in turn. Returns the times of the batches in ns, including the cold
 * ones.
 */
internal fun World.play(model: SiteModel, planner: Planner, believed: Costs, size: Int, batches: Int): List<Double> =
    List(batches) {
        val seen = run(planner.plan(size, believed), size)
        model.observe(seen)
        seen.elapsedNs.toDouble()
    }

class ProcessorsTest {
    @TempDir lateinit var cgroups: Path

    private fun second(line: String) = Files.writeString(cgroups.resolve("cpu.max"), "$line\n")

    private fun first(quota: String, period: String) {
        val cpu = Files.createDirectories(cgroups.resolve("cpu"))
        Files.writeString(cpu.resolve("cpu.cfs_quota_us"), "$quota\n")
        Files.writeString(cpu.resolve("cpu.cfs_period_us"), "$period\n")
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource(
        "a container's quota limits the processors, 200000 100000, 8, 2",
        "it is rounded up, 150000 100000, 8, 2",
        "there is at least one processor, 25000 100000, 8, 1",
        "a quota above the JVM's processors changes nothing, 800000 100000, 2, 2",
        "an unlimited quota is no limit, max 100000, 8, 8",
        "a malformed quota is no limit, what is this, 8, 8",
    )
    fun `the processors follow the quota`(name: String, line: String, seen: Int, available: Int) {
        second(line)
        assertEquals(available, Processors.available(cgroups, seen), name)
    }

    @Test
    fun `a missing quota is no limit, and one of cgroups version 1 limits the processors`() {
        assertNull(Processors.quota(cgroups))
        first("200000", "100000")
        assertEquals(2, Processors.available(cgroups, seen = 8))
        first("-1", "100000")
        assertEquals(8, Processors.available(cgroups, seen = 8))
    }

    @Test
    fun `no CPU worker helps when there is one processor`() {
        second("50000 100000")
        AdaptiveExecutor(Processors.available(cgroups, seen = 4)).use { executor ->
            val site = executor.site("busy")
            val spin = {
                val until = System.nanoTime() + 20_000
                while (System.nanoTime() < until) Thread.onSpinWait()
            }
            // Warms the site up, because other threads may join a batch of an unknown site after a while.
            repeat(10) { executor.runAll(site, 50) { spin() } }
            val plan = site.plan(50, executor.live.now)
            assertFalse(plan.place == Placement.CPU, "helpers=${plan.helpers}")
        }
    }

    @Test
    fun `the second field of the scheduler's line is read, and other formats are rejected`() {
        assertEquals(345L, Scheduler.second("12 345 6\n"))
        assertEquals(-1L, Scheduler.second(""))
        assertEquals(-1L, Scheduler.second("a b c"))
    }
}
