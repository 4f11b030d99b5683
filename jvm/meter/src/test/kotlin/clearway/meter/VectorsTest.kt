// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

import clearway.meter.model.RunFacts
import clearway.meter.model.TimedTrip
import clearway.meter.model.bestOffset
import clearway.meter.model.summarize
import clearway.meter.record.BeatDetector
import clearway.meter.record.DetectedStall
import clearway.meter.record.Evidence
import clearway.meter.record.Marks
import clearway.meter.record.Recorder
import clearway.meter.record.RecorderOptions
import clearway.meter.record.causeOf
import com.google.gson.JsonArray
import com.google.gson.JsonElement
import com.google.gson.JsonObject
import com.google.gson.JsonParser
import com.google.gson.JsonPrimitive
import io.kotest.common.ExperimentalKotest
import io.kotest.property.Arb
import io.kotest.property.PropTestConfig
import io.kotest.property.checkAll
import java.math.MathContext
import java.nio.file.Files
import java.nio.file.Path
import java.time.Instant
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestFactory

/** Checks the meter against spec/vectors/meter.json. TypeScript's meter passes the same vectors. */
class VectorsTest {
    private val vectors =
        JsonParser.parseString(Files.readString(Path.of("../../spec/vectors/meter.json"))).asJsonObject

    private fun each(name: String, test: (JsonObject) -> Unit): List<DynamicTest> {
        val cases = vectors[name].asJsonArray.map { it.asJsonObject }
        assertTrue(cases.isNotEmpty())
        return cases.map { dynamicTest("$name: ${it["name"].asString}") { test(it) } }
    }

    @TestFactory
    fun `a run gives its report`(): List<DynamicTest> =
        each("reports") { case ->
            val expected = case["report"].asJsonObject.apply { add("stalls", case["run"].asJsonObject["stalls"]) }
            assertEquals(close(expected), close(JsonParser.parseString(summarize(facts(case)).toJson())))
        }

    @TestFactory
    fun `beats show stalls`(): List<DynamicTest> =
        each("beats") { case ->
            val detector = BeatDetector(case["floorMs"].asDouble)
            val found = case["steps"].asJsonArray.mapNotNull { step(detector, it.asJsonArray) }
            val expected = case["found"].asJsonArray.map { found(it.asJsonObject) }
            assertEquals(expected, found)
        }

    @TestFactory
    fun `evidence names a cause`(): List<DynamicTest> =
        each("causes") { case ->
            val (cause, because) = causeOf(evidence(case["evidence"].asJsonObject))
            assertEquals(case["cause"].asString to case["because"].asString, cause.word to because)
        }

    @TestFactory
    fun `trips bound the clocks' offset`(): List<DynamicTest> =
        each("offsets") { case ->
            val trips =
                case["trips"].asJsonArray.map { trip ->
                    val (sent, remote, back) = trip.asJsonArray.map { it.asDouble }
                    TimedTrip(sent, remote, back)
                }
            val offset = bestOffset(trips)
            if (case["offset"].isJsonNull) assertEquals(null, offset)
            else {
                val expected = case["offset"].asJsonObject
                assertEquals(expected["offsetMs"].asDouble, offset?.offsetMs)
                assertEquals(expected["errorMs"].asDouble, offset?.errorMs)
            }
        }

    @TestFactory
    fun `runs of marks have shares`(): List<DynamicTest> =
        each("marks") { case ->
            var nowMs = 0.0
            val marks = Marks { nowMs }
            val runs = case["runs"].asJsonArray.map { it.asJsonArray }
            val entries =
                runs.map {
                    nowMs = it[1].asDouble
                    marks.open(it[0].asString)
                }
            for ((run, entry) in runs.zip(entries)) {
                if (run[2].isJsonNull) continue
                nowMs = run[2].asDouble
                marks.close(entry)
            }
            val shares = marks.during(Thread.currentThread(), case["fromMs"].asDouble, case["untilMs"].asDouble)
            val expected = case["shares"].asJsonArray.map { it.asJsonArray }.map { it[0].asString to it[1].asDouble }
            assertEquals(expected, shares.map { it.label to it.overlapMs })
        }

    private fun step(detector: BeatDetector, step: JsonArray): DetectedStall? {
        fun number(at: Int) = step[at].asDouble
        return when (step[0].asString) {
            "restart" -> null.also { detector.restart(number(1)) }
            "held" -> null.also { detector.blockedUntil(number(1)) }
            else -> detector.beat(number(1), number(2), number(3))
        }
    }

    private fun found(json: JsonObject) =
        DetectedStall(
            json["startMs"].asDouble,
            json["endMs"].asDouble,
            json["earliestMs"].asDouble,
            json["errorMs"].asDouble,
            json["goesOn"].asBoolean,
        )

    private fun facts(case: JsonObject): RunFacts {
        val run = case["run"].asJsonObject
        return RunFacts(
            run["host"].asString,
            run["label"]?.asString,
            run["startedAt"].asString,
            run["durationMs"].asDouble,
            run["hz"].asDouble,
            run["floorMs"].asDouble,
            run["stalls"].asJsonArray.map { stall(it.asJsonObject) },
            run["droppedStalls"].asInt,
            run["sources"].asJsonArray.map {
                val source = it.asJsonObject
                SourceState(source["name"].asString, source["available"].asBoolean, source["why"]?.asString)
            },
        )
    }

    private fun stall(json: JsonObject) =
        Stall(
            json["startMs"].asDouble,
            json["lengthMs"].asDouble,
            json["errorMs"].asDouble,
            StallCause.valueOf(json["cause"].asString.uppercase()),
            json["because"].asString,
            json["machineMs"].asDouble,
            json["gcMs"].asDouble,
            stacks(json),
            marks(json),
        )

    private fun stacks(json: JsonObject) =
        json["stacks"].asJsonArray.map { each ->
            val stack = each.asJsonObject
            StackSample(stack["frames"].asJsonArray.map { it.asString }, stack["seen"].asInt)
        }

    private fun marks(json: JsonObject) =
        json["marks"].asJsonArray.map {
            MarkShare(it.asJsonObject["label"].asString, it.asJsonObject["overlapMs"].asDouble)
        }

    private fun evidence(json: JsonObject) =
        Evidence(
            json["lengthMs"].asDouble,
            json["machineMs"].asDouble,
            json["queued"]?.asBoolean ?: false,
            ranMs = Double.NaN,
            json["unwokenMs"]?.asDouble ?: 0.0,
            json["gcMs"].asDouble,
            json["call"]?.asString,
            stacks(json),
            marks(json),
            json["noWatcher"]?.asString,
            json["gcSeen"].asBoolean,
        )

    /** Rounds numbers to nine digits. Sums in a different order differ in later digits. */
    private fun close(json: JsonElement): JsonElement =
        when {
            json is JsonObject -> JsonObject().apply { for ((key, value) in json.entrySet()) add(key, close(value)) }
            json is JsonArray -> JsonArray().apply { for (value in json) add(close(value)) }
            json is JsonPrimitive && json.isNumber -> JsonPrimitive(json.asBigDecimal.round(MathContext(9)).toDouble())
            else -> json
        }
}

/**
 * Checks `property` on random values of `arb`. The seed is fixed, so a test can fail only after a change of the code.
 * `CLEARWAY_FUZZ_SEED` sets another seed (a number, or `random`), and `CLEARWAY_FUZZ_RUNS` sets the number of values. A
 * failure prints the seed and the shrunk value.
 */
@OptIn(ExperimentalKotest::class)
fun <A> forAll(arb: Arb<A>, runs: Int = 50, property: (A) -> Unit) {
    val asked = System.getenv("CLEARWAY_FUZZ_SEED")
    val seed = if (asked == "random") System.nanoTime() else asked?.toLong() ?: 20_260_101L
    val times = System.getenv("CLEARWAY_FUZZ_RUNS")?.toInt() ?: runs
    runBlocking { checkAll(PropTestConfig(seed = seed, iterations = times), arb) { property(it) } }
}

class RecorderTest {
    private val there = listOf(SourceState("watcher", true), SourceState("garbage collection", true))

    private fun recorder(
        sources: List<SourceState> = there,
        stallsMax: Int = 100,
        marks: List<MarkShare> = emptyList(),
    ): Recorder =
        Recorder(RecorderOptions(null, 60.0, 4.0, stallsMax, { sources }, { _, _ -> marks })).apply {
            begin(1000.0, Instant.parse("2026-01-01T00:00:00Z"))
        }

    private fun stall(startMs: Double, endMs: Double, errorMs: Double = 0.0, continuesLast: Boolean = false) =
        DetectedStall(startMs, endMs, startMs - errorMs, errorMs, continuesLast)

    private fun Recorder.only(): Stall = report(5000.0).stalls.also { assertEquals(1, it.size) }[0]

    /** Returns the only stall of a recorder that gets this evidence and then a stall from 1100 ms on. */
    private fun seen(endMs: Double = 1200.0, evidence: Recorder.() -> Unit): Stall =
        recorder().apply(evidence).apply { detected(stall(1100.0, endMs)) }.only()

    @Test
    fun `a stall that continues is recorded as one stall`() {
        val recorder = recorder()
        recorder.detected(stall(1100.0, 1200.0))
        recorder.detected(stall(1200.0, 1203.0, continuesLast = true))
        assertEquals(100.0 to 103.0, recorder.only().let { it.startMs to it.lengthMs })
    }

    @Test
    fun `the recorder cuts a stall at the run's start and end, and drops it when the rest is below the floor`() {
        val recorder = recorder()
        recorder.detected(stall(900.0, 1050.0))
        recorder.end(2000.0)
        recorder.detected(stall(1990.0, 2500.0))
        recorder.detected(stall(2600.0, 2700.0))
        assertEquals(
            listOf(0.0 to 50.0, 990.0 to 10.0),
            recorder.report(2000.0).stalls.map { it.startMs to it.lengthMs },
        )
        val short = recorder()
        short.detected(stall(900.0, 1002.0))
        assertTrue(short.report(5000.0).stalls.isEmpty())
    }

    @Test
    fun `the cause is the machine when the idle watcher was delayed for half of the stall`() {
        val stall = seen { watcherLate(1105.0, 1190.0) }
        assertEquals(StallCause.MACHINE to 85.0, stall.cause to stall.machineMs)
    }

    @Test
    fun `the cause is the machine when the thread waited for an event that was already queued`() {
        val stall =
            seen(1160.0) {
                stack(1110.0, emptyList())
                stack(1120.0, emptyList())
                stack(1140.0, listOf("sort"))
            }
        assertEquals("the thread had nothing to do and was woken 40.0 ms late", stall.because)
        assertEquals(StallCause.MACHINE to 1, stall.cause to stall.stacks.size)
    }

    @Test
    fun `the cause is the machine when the thread was ready without a core for half of the stall`() {
        val stall = seen { queued(1130.0, 1200.0) }
        assertEquals("the thread was ready, and not run, for 70.0 ms of it", stall.because)
    }

    @Test
    fun `delays of the idle watcher and of the thread add up, limited by the time that the thread did not run`() {
        val expected = mapOf(10.0 to (StallCause.MACHINE to 70.0), 55.0 to (StallCause.APP to 45.0))
        for ((ranMs, cause) in expected + (90.0 to (StallCause.APP to 40.0))) {
            val stall = seen {
                watcherLate(1100.0, 1140.0)
                queued(1130.0, 1170.0)
                ran(1090.0, 1210.0, ranMs)
            }
            assertEquals(cause, stall.cause to stall.machineMs, "ranMs=$ranMs")
        }
    }

    @Test
    fun `the cause is the app when the thread waited, and the reason does not call it busy`() {
        val stall = seen {
            ran(1000.0, 1050.0, 50.0)
            ran(1099.0, 1203.0, 12.0)
        }
        assertEquals(
            "the thread waited, as for a lock: it ran for 12.0 ms at most, " +
                "and neither the machine nor garbage collection held it",
            stall.because,
        )
        assertEquals(StallCause.APP, stall.cause)
    }

    @Test
    fun `a collection that delays the watcher does not count for the machine`() {
        val stall = seen {
            watcherLate(1110.0, 1185.0)
            garbageCollected(1110.0, 1180.0)
        }
        assertEquals(listOf(StallCause.GC, 70.0, 5.0), listOf(stall.cause, stall.gcMs, stall.machineMs))
    }

    @Test
    fun `the reason names the stack that was sampled most often within the stall`() {
        val stall = seen {
            stack(1120.0, listOf("inner", "outer"))
            for (atMs in listOf(1140.0, 1160.0)) stack(atMs, listOf("sort"))
            stack(1300.0, listOf("later"))
        }
        assertEquals(StallCause.APP to "it was seen in sort", stall.cause to stall.because)
        assertEquals(
            listOf(listOf("sort") to 2, listOf("inner", "outer") to 1),
            stall.stacks.map { it.frames to it.seen },
        )
    }

    @Test
    fun `the reason names the measured function only for the stall in which it ran`() {
        val recorder = recorder()
        recorder.call(1100.0, 1190.0, "load")
        recorder.detected(stall(1100.0, 1200.0))
        recorder.detected(stall(1300.0, 1400.0))
        assertEquals(
            listOf(
                "load ran without giving the thread back",
                "the thread was busy, and neither the machine nor garbage collection held it",
            ),
            recorder.report(5000.0).stalls.map { it.because },
        )
    }

    @Test
    fun `the cause is unknown when no watcher runs, and the reason says why`() {
        val recorder = recorder(listOf(SourceState("watcher", false, "still starting")))
        recorder.detected(stall(1100.0, 1110.0))
        val stall = recorder.only()
        assertEquals(StallCause.UNKNOWN, stall.cause)
        assertTrue("still starting" in stall.because)
    }

    @Test
    fun `the recorder explains each stall once, in order, after its evidence has had time to arrive`() {
        val recorder = recorder()
        recorder.detected(stall(1100.0, 1110.0))
        recorder.detected(stall(1200.0, 1220.0))
        assertEquals(listOf(10.0), recorder.explain(1150.0).map { it.lengthMs })
        assertEquals(2, recorder.report(5000.0).stalls.size)
        assertEquals(listOf(20.0), recorder.explain(1300.0).map { it.lengthMs })
        assertTrue(recorder.explain(1400.0).isEmpty())
        assertEquals(2, recorder.report(5000.0).stalls.size)
    }

    @Test
    fun `the recorder bounds its memory and reports the time after the dropped stalls`() {
        val recorder = recorder(stallsMax = 8)
        for (index in 0 until 9) recorder.detected(stall(1000.0 + index * 100, 1010.0 + index * 100))
        recorder.explain(5000.0)
        val report = recorder.report(2000.0)
        assertEquals(listOf(2, 7, 890.0), listOf(report.droppedStalls, report.stalls.size, report.durationMs))
    }

    @Test
    fun `the worst second is among the kept stalls when earlier stalls were dropped`() {
        val recorder = recorder(stallsMax = 8)
        for (index in 0 until 9) recorder.detected(stall(10_000.0 + index * 100, 10_010.0 + index * 100))
        recorder.explain(20_000.0)
        val worst = recorder.report(12_000.0).worstSecond
        assertEquals(listOf(9200.0, 70.0), listOf(worst.startMs, worst.stalledMs))
    }

    @Test
    fun `a new run drops all recorded stalls`() {
        val recorder = recorder()
        recorder.detected(stall(1100.0, 1200.0))
        recorder.explain(1500.0)
        recorder.begin(2000.0, Instant.EPOCH)
        val report = recorder.report(2500.0)
        assertEquals(listOf(500.0, 0, 0), listOf(report.durationMs, report.stalls.size, report.droppedStalls))
    }
}
