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
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
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
