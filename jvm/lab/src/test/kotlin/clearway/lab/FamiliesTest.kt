// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab

import clearway.lab.codec.LabCodec
import clearway.lab.codec.LabCodecs
import clearway.lab.codec.Payload
import clearway.lab.codec.plain
import clearway.lab.memory.Filler
import clearway.lab.memory.Fillers
import clearway.lab.memory.measureFills
import clearway.lab.offload.Action
import clearway.lab.offload.Strategies
import clearway.lab.offload.Strategy
import clearway.lab.offload.StrategyKind
import clearway.lab.offload.WarmUp
import clearway.lab.offload.Works
import clearway.lab.offload.seedsOf
import clearway.lab.offload.warmUp
import clearway.lab.protocol.Cell
import clearway.lab.push.Chain
import clearway.lab.push.Event
import clearway.lab.push.Hop
import clearway.lab.push.HopKind
import clearway.lab.push.Load
import clearway.lab.push.PushMechanismKind
import clearway.lab.push.PushMechanisms
import clearway.lab.push.Receiver
import clearway.lab.push.Sending
import java.util.concurrent.ConcurrentHashMap
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestFactory

internal class LabCodecsTest {
    @TestFactory
    fun `each codec decodes every value, twice from one message`(): List<DynamicTest> =
        LabCodecs.names.map { name -> dynamicTest(name) { givesBack(LabCodecs.named(name)) } }

    private fun givesBack(codec: LabCodec) {
        for (name in Payload.names) {
            val value = Payload.named(name)
            val message = codec.encode(value)
            repeat(2) {
                val read = codec.decode(message.duplicate())
                assertEquals(plain(value, codec.bytesAsText), plain(read, codec.bytesAsText), name)
            }
        }
    }

    @TestFactory
    fun `the list of a thousand items has the length that the family states`(): List<DynamicTest> =
        listOf("clearway", "clearway-into").map { name ->
            dynamicTest(name) {
                assertEquals(14_214, LabCodecs.named(name).encode(Payload.named("1000 items")).remaining())
            }
        }
}

/**
 * Tests without native code, because none is compiled here. ts/clearway-lab/test/contract.test.ts runs every mechanism
 * of the runner.
 */
internal class FillersTest {
    @Test
    fun `a mechanism without its native code is listed with the missing part, and throws the same message`() {
        val entries = Registry.entries().filter { it.scenario == "memset-jvm" }.associateBy { it.mechanism }
        assertEquals(setOf("c") + Fillers.all.map { it.name }, entries.keys)
        for (name in Fillers.all.map { it.name }) {
            val why = entries.getValue(name).unavailable
            assertNotNull(why, name)
            val thrown = assertThrows(IllegalStateException::class.java) { Fillers.named(name).open(1) }
            assertEquals(why, thrown.message)
        }
    }

    private class InJava(bytes: Int) : Filler {
        private val array = ByteArray(bytes)

        override fun renew() = array.fill(0)

        override fun fill(value: Int) = array.fill(value.toByte())

        override fun holds(value: Int): Boolean = array.all { it == value.toByte() }
    }

    @Test
    fun `small fills of warm memory are timed in batches, fills of fresh memory one by one`() {
        fun fills(bytes: Int, memory: String): clearway.lab.protocol.Measured {
            val numbers = mapOf("bytes" to bytes, "repetitions" to 5, "timeMsMax" to 1000)
            val params = numbers.mapValues { JsonPrimitive(it.value) } + ("memory" to JsonPrimitive(memory))
            return measureFills(Cell("memory", "memset-jvm", "java", params, JsonObject(emptyMap()))) { ::InJava }
        }
        val warm = fills(4096, "warm").samples.getValue("fill")
        assertEquals(listOf(5, 64), listOf(warm.ns.size, warm.batch))
        assertEquals(1, fills(4096, "fresh").samples.getValue("fill").batch)
        assertEquals(JsonObject(mapOf("filled" to JsonPrimitive(true))), fills(1 shl 20, "warm").result)
    }
}

internal class StrategiesTest {
    private val checksums = mapOf("arithmetic" to 95_289, "lists" to 4_753, "storage" to 4_950, "network" to 4_950)

    @Test
    fun `the runner has every strategy of the family`() {
        val names =
            "direct coroutines-launch flow-map coroutines-launch-default coroutines-launch-default-limited " +
                "flow-flatmapmerge-default flow-flatmapmerge-cores coroutines-launch-io flow-flatmapmerge-io " +
                "rxjava-flowable-single rxjava-parallel-computation rxjava-flatmap-io fixed-pool-invokeall " +
                "work-stealing-invokeall fixed-100-invokeall work-stealing-100-invokeall virtual-threads clearway-adaptive"
        assertEquals(names.split(" "), Strategies.all.map { it.name })
    }

    private fun each(test: (StrategyKind) -> Unit): List<DynamicTest> =
        Strategies.all.filter { it.unavailable == null }.map { kind -> dynamicTest(kind.name) { test(kind) } }

    @TestFactory
    fun `each strategy runs every action once, also when opened again after close`() = each { kind ->
        repeat(2) { runsAll(kind) }
    }

    private fun resultsOf(strategy: Strategy, action: Action, order: String): DoubleArray =
        DoubleArray(100) { Double.NaN }.also { strategy.batch(seedsOf(order, 100), action, it) }

    /** A result counts as at most 1000, because the results of `arithmetic` (powers) are too large. */
    private fun checksum(results: DoubleArray): Int = Math.round(results.sumOf { minOf(it, 1000.0) }).toInt()

    private fun runsAll(kind: StrategyKind) {
        kind.open().use { strategy ->
            for (order in listOf("ascending", "shuffled")) {
                for (work in listOf("arithmetic", "lists", "bimodal", "mixed")) {
                    val results = resultsOf(strategy, Works.named(work, networkUs = 1.0), order)
                    assertEquals(100, results.count { !it.isNaN() }, "$work $order")
                    checksums[work]?.let { assertEquals(it, checksum(results), work) }
                }
            }
        }
    }

    @TestFactory
    fun `an action that throws ends the batch with its exception`() = each { kind ->
        kind.open().use { strategy ->
            val action = Action { seed -> if (seed == 7) error("seven") else 0.0 }
            val thrown =
                assertThrows(Throwable::class.java) {
                    strategy.batch(seedsOf("ascending", 20), action, DoubleArray(20))
                }
            assertNotNull(generateSequence(thrown) { it.cause }.find { it.message == "seven" })
        }
    }

    @Test
    fun `workloads that wait return their results`() {
        Strategies.named("fixed-100-invokeall").open().use { strategy ->
            for (work in listOf("storage", "network")) {
                val results = resultsOf(strategy, Works.named(work, networkUs = 10.0), "shuffled")
                assertEquals(checksums.getValue(work), checksum(results))
            }
        }
    }

    @Test
    fun `the shuffled order has every seed once and is deterministic`() {
        val shuffled = seedsOf("shuffled", 100)
        assertEquals((0 until 100).toList(), shuffled.sorted())
        assertEquals(shuffled.toList(), seedsOf("shuffled", 100).toList())
    }
}

/**
 * Tests the warm-up with batches on a fake clock. `ns` returns the duration of a batch that starts at the given time.
 */
internal class WarmUpTest {
    private var nowNs = 0L

    private fun warmedFor(ms: Double, ns: (beginsNs: Long) -> Long): WarmUp {
        nowNs = 0
        return warmUp(ms, { nowNs }) { nowNs += ns(nowNs) }
    }

    @Test
    fun `batches are warm when their time is constant`() {
        val found = warmedFor(100.0) { 1_000_000 }
        assertTrue(found.isWarm)
        assertEquals(listOf(100, 100.0, 1_000_000L), listOf(found.batches, found.ms, found.perBatchNs))
    }

    @Test
    fun `batches are warm when they became faster before the second half, and report the later time`() {
        val found = warmedFor(100.0) { if (it < 48_000_000) 1_000_000 else 100_000 }
        assertTrue(found.isWarm)
        assertEquals(100_000, found.perBatchNs)
    }

    @Test
    fun `batches are not warm when they become faster in the last quarter, or steadily`() {
        assertFalse(warmedFor(100.0) { if (it < 80_000_000) 1_000_000 else 900_000 }.isWarm)
        assertFalse(warmedFor(100.0) { 1_000_000 - it / 120 }.isWarm)
    }

    @Test
    fun `outliers do not decide whether batches are warm, and too few windows are not warm`() {
        assertTrue(warmedFor(100.0) { if (it / 1_000_000 % 9 == 0L) 3_000_000 else 1_000_000 }.isWarm)
        assertTrue(warmedFor(100.0) { if (it / 5_000_000 == 18L) 500_000 else 1_000_000 }.isWarm)
        assertFalse(warmedFor(100.0) { 12_000_000 }.isWarm)
    }

    @Test
    fun `one batch runs without time, and is not warm`() {
        val found = warmedFor(0.0) { 1_000 }
        assertEquals(1, found.batches)
        assertFalse(found.isWarm)
    }
}

internal class PushMechanismsTest {
    @TestFactory
    fun `each mechanism and chain delivers every event in order, at a pace and back to back`(): List<DynamicTest> =
        PushMechanisms.all
            .filter { it.unavailable == null }
            .map { kind -> dynamicTest(kind.name) { deliversAll(kind) } }

    private fun deliversAll(kind: PushMechanismKind) {
        kind.open().use { mechanism ->
            for (load in listOf(Load(5_000, 0.0, 8), Load(200, 10_000.0, 1024))) {
                val receiver = Receiver(load)
                mechanism.run(load, receiver)
                assertTrue(receiver.await(60_000), "received ${receiver.received}")
                assertEquals(load.count, receiver.received)
                assertEquals(0, receiver.outOfOrder)
                // An event cannot arrive before its stamp.
                assertTrue(receiver.latencyNs.all { it >= 0 })
            }
        }
    }

    /** Keeps the events that it sends. */
    private class Keeping : Sending() {
        val events = ArrayList<Event>()

        override fun send(event: Event) {
            events += event
            event.arrive()
        }
    }

    @Test
    fun `a sender stamps each event and sleeps for the interval after it`() {
        val load = Load(20, 1_000.0, 8)
        val sender = Keeping()
        sender.run(load, Receiver(load))
        assertEquals(20, sender.events.size)
        for ((earlier, later) in sender.events.zipWithNext()) assertTrue(later.sentNs - earlier.sentNs >= 1_000_000)
    }

    @Test
    fun `a firehose stamps each event`() {
        val load = Load(2_000, 0.0, 8)
        val sender = Keeping().also { it.run(load, Receiver(load)) }
        assertTrue(sender.events.map { it.sentNs }.distinct().size > 1)
    }

    @Test
    fun `a firehose has the backlog after each quarter that was sent`() {
        val load = Load(8, 0.0, 8)
        val receiver = Receiver(load)
        // Four events are sent before the first one arrives, and the others before the fourth.
        repeat(4) { receiver.noteSent() }
        repeat(3) { receiver.receive(Event(it, 0, null, receiver)) }
        repeat(4) { receiver.noteSent() }
        for (i in 3 until 8) receiver.receive(Event(i, 0, null, receiver))
        assertEquals(listOf(4, 4, 5, 5), receiver.backlogs.toList())
        assertEquals(5, receiver.backlogMax)
        assertTrue(receiver.await(0))
    }

    @Test
    fun `a firehose of one event fills all quarters, and one without its last event has no last quarter`() {
        val one = Receiver(Load(1, 0.0, 8))
        one.noteSent()
        one.receive(Event(0, 0, null, one))
        assertEquals(listOf(1, 1, 1, 1), one.backlogs.toList())
        val cut = Receiver(Load(4, 0.0, 8))
        repeat(3) { cut.noteSent() }
        cut.receive(Event(0, 0, null, cut))
        assertEquals(listOf(3, 3, 3, 0), cut.backlogs.toList())
        assertFalse(cut.await(0))
    }

    /** A hop that keeps its name and passes events on. */
    private class Named(private val name: String, val passed: MutableList<String>, val next: (Event) -> Unit) : Hop {
        override fun pass(event: Event) {
            passed += "$name ${event.i}"
            next(event)
        }

        override fun close() {
            passed += "$name closed"
        }
    }

    @Test
    fun `a chain passes each event through its hops in order, and ends them in the same order`() {
        val passed = ArrayList<String>()
        val kinds =
            listOf("first", "second", "third").map<String, HopKind> { name -> { next -> Named(name, passed, next) } }
        val load = Load(2, 0.0, 8)
        val receiver = Receiver(load)
        Chain(kinds).use { it.run(load, receiver) }
        assertEquals(2, receiver.received)
        val each = listOf(0, 1).flatMap { i -> listOf("first $i", "second $i", "third $i") }
        assertEquals(each + listOf("first closed", "second closed", "third closed"), passed)
    }

    @TestFactory
    fun `the last hop of a chain delivers on a thread that is not the sender's, and no thread is left after close`() =
        PushMechanisms.all
            .filter { it.name.startsWith("chain-") }
            .map { kind ->
                dynamicTest(kind.name) {
                    val before = Thread.getAllStackTraces().keys
                    val during = ConcurrentHashMap.newKeySet<Thread>()
                    kind.open().use { mechanism ->
                        val load = Load(100, 0.0, 8)
                        val receiver = Receiver(load)
                        mechanism.run(load, receiver)
                        assertTrue(receiver.await(60_000))
                        during += (Thread.getAllStackTraces().keys - before).filter { HOP.containsMatchIn(it.name) }
                    }
                    // Each change of threads has a thread of its own.
                    val hops = kind.name.split("-").drop(1).count { it != "direct" }
                    assertEquals(hops, during.size, "$during")
                    for (thread in during) thread.join(60_000)
                    assertTrue(during.none { it.isAlive })
                }
            }

    private companion object {
        /** The names of the threads of executors and of streams. */
        val HOP = Regex("^(pool-\\d+-|stream)")
    }
}
