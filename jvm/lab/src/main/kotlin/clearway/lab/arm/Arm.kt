// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.arm

import clearway.lab.offload.Strategies
import clearway.lab.offload.Strategy
import clearway.lab.offload.Works
import clearway.lab.offload.seedsOf
import com.sun.management.OperatingSystemMXBean
import java.lang.management.ManagementFactory
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.double
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive

/**
 * An arm of the lab's engine (ts/clearway-lab/src/protocol/arm.ts): one strategy that runs batches of a hundred
 * actions. The argument is the strategy's name. The protocol has the standard streams, so everything else that is
 * printed goes to stderr.
 */
public fun main(arguments: Array<String>) {
    val output = System.out
    System.setOut(System.err)
    fun reply(message: JsonObject) {
        output.println(message)
        output.flush()
    }
    try {
        val arm = Arm(Strategies.named(arguments.single()).open())
        reply(buildJsonObject { put("ready", JsonPrimitive(true)) })
        for (line in System.`in`.bufferedReader().lineSequence()) {
            val request = Json.parseToJsonElement(line).jsonObject
            if (request.getValue("op").jsonPrimitive.content == "end") break
            reply(arm.answer(request))
        }
    } catch (error: Exception) {
        reply(failure(error))
    }
    // Halts the JVM, because frameworks leave threads behind. All answers have been written.
    Runtime.getRuntime().halt(0)
}

private class Arm(private val strategy: Strategy) {
    private val seeds = seedsOf("shuffled", ACTIONS)
    private val system = ManagementFactory.getOperatingSystemMXBean() as OperatingSystemMXBean

    private val batches = HashMap<String, Batch>()

    fun answer(request: JsonObject): JsonObject =
        try {
            val batch = request.getValue("work").jsonPrimitive.content.let { batches.getOrPut(it) { Batch(it) } }
            val isWarmUp = request.getValue("op").jsonPrimitive.content == "warm"
            val runsMin = request.number(if (isWarmUp) "calls" else "runs")
            val costsNs = ArrayList<Long>()
            val from = System.nanoTime()
            val cpuFrom = cpuMs()
            do {
                costsNs += batch.ns()
                val goesOn =
                    if (isWarmUp)
                        costsNs.size < runsMin &&
                            cpuMs() - cpuFrom < request.number("cpuMs") &&
                            ms(from) < request.number("cpuMs") * WARM_ELAPSED
                    else costsNs.size < runsMin || ms(from) < request.number("ms")
            } while (goesOn)
            buildJsonObject {
                put("costsNs", JsonArray(if (isWarmUp) emptyList() else costsNs.map { JsonPrimitive(it) }))
                put("calls", JsonPrimitive(costsNs.size))
                put("cpuMs", JsonPrimitive(cpuMs() - cpuFrom))
            }
        } catch (error: Exception) {
            failure(error)
        }

    private fun ms(fromNs: Long): Double = (System.nanoTime() - fromNs) / 1e6

    private fun cpuMs(): Double = system.processCpuTime / 1e6

    /** The batches of one kind of work. */
    private inner class Batch(work: String) {
        private val action = Works.named(work)
        private val expected = seeds.sumOf { action.run(it) }
        private val results = DoubleArray(ACTIONS)

        /** Runs a batch and returns its time in ns. Throws if a result is wrong. */
        fun ns(): Long {
            val begin = System.nanoTime()
            strategy.batch(seeds, action, results)
            val ns = System.nanoTime() - begin
            check(results.sum() == expected) {
                "the batch's results are wrong: sum=${results.sum()}, expected $expected"
            }
            results.fill(0.0)
            return ns
        }
    }
}

private fun JsonObject.number(name: String): Double = getValue(name).jsonPrimitive.double

private fun failure(error: Exception): JsonObject = buildJsonObject {
    put("failed", JsonPrimitive(error.message ?: error.toString()))
}

private const val ACTIONS = 100
/** A warm-up takes at most this many times its processor time, so that work that waits ends it, too. */
private const val WARM_ELAPSED = 3
