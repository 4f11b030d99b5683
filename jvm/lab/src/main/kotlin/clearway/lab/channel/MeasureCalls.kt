// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.channel

import clearway.lab.codec.plain
import clearway.lab.offload.Meters
import clearway.lab.offload.blackhole
import clearway.lab.protocol.Cell
import clearway.lab.protocol.Measured
import clearway.lab.protocol.Samples
import clearway.lab.protocol.Value
import java.nio.ByteBuffer
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject

/**
 * One row by one way: round trips one at a time, and three in flight where the answer comes later. In a JVM of its own.
 */
internal fun measureCalls(cell: Cell, open: (Row) -> Caller): Measured {
    val row = Row.of(cell)
    val messages = cell.int("messages")
    return open(row).use { caller ->
        val once: () -> Any? = caller::call
        warmUp(cell.number("warmUpMs", WARM_UP_MS), caller)
        val first = isEcho(row, once())
        val samples = HashMap<String, Samples>()
        val values = HashMap<String, Value>()
        if (caller.isLater) {
            samples["roundTrip"] = Samples("us", timed(messages, once))
            val begin = System.nanoTime()
            samples["roundTripOfThree"] = Samples("us", threeInFlight(messages, caller))
            values["perMessageOfThree"] = Value("us", (System.nanoTime() - begin) / 1e3 / messages)
        } else samples["roundTrip"] = batched(messages, once)
        // Counted apart from what is timed, as on the other hosts.
        val counted = minOf(messages, COUNTED_MAX)
        val copied = caller.copiedBytes
        repeat(counted) { once() }
        values["copiedBytes"] = Value("bytes", (caller.copiedBytes - copied).toDouble() / counted)
        val allocated = Meters.allocatedBytes()
        repeat(counted) { once() }
        values["allocatedBytes"] = Value("bytes", (Meters.allocatedBytes() - allocated).toDouble() / counted)
        val equal = first && isEcho(row, once())
        Measured(samples, values, buildJsonObject { put("equal", JsonPrimitive(equal)) })
    }
}

/** Until the code is compiled, at this end and at the other. */
private fun warmUp(msMax: Double, caller: Caller) {
    val begin = System.nanoTime()
    var calls = 0
    while (calls < WARM_UP_CALLS && System.nanoTime() - begin < msMax * 1e6) {
        caller.call()
        calls++
        if (!caller.isLater) continue
        threeInFlight(LANES, caller)
        calls += LANES
    }
}

private fun timed(messages: Int, once: () -> Any?): LongArray {
    val into = blackhole()
    return LongArray(messages) {
        val begin = System.nanoTime()
        into.consume(once())
        System.nanoTime() - begin
    }
}

private fun threeInFlight(messages: Int, caller: Caller): LongArray {
    val into = blackhole()
    val ns = LongArray(messages)
    val begun = LongArray(messages)
    val under = ArrayDeque<Pending>(LANES)
    for (at in 0 until messages + LANES) {
        if (at >= LANES) {
            val answered = at - LANES
            if (under.isEmpty()) break
            into.consume(under.removeFirst().await())
            ns[answered] = System.nanoTime() - begun[answered]
        }
        if (at < messages) {
            begun[at] = System.nanoTime()
            under.addLast(caller.send())
        }
    }
    return ns
}

/** Each sample lasts long enough for the clock; the shortest of three says how many calls that takes. */
private fun batched(messages: Int, once: () -> Any?): Samples {
    val into = blackhole()
    fun batchNs(batch: Int): Long {
        val begin = System.nanoTime()
        repeat(batch) { into.consume(once()) }
        return System.nanoTime() - begin
    }
    var batch = 1
    while (batch < BATCH_MAX && List(3) { batchNs(batch) }.min() < BATCH_NS_MIN) batch *= 2
    return Samples("us", LongArray(messages) { batchNs(batch) / batch }, batch)
}

/** Whether what came back is what was sent, as far as the way's codec keeps types. */
private fun isEcho(row: Row, answer: Any?): Boolean =
    if (row.isBinary)
        ByteBuffer.wrap(row.value as ByteArray) == (answer as? ByteBuffer ?: ByteBuffer.wrap(answer as ByteArray))
    else plain(row.value, false) == plain(answer, false)

private const val LANES = 3
/** As on the other hosts: a hundred readings of the clock and more. */
private const val BATCH_NS_MIN = 10_000L
private const val BATCH_MAX = 1024
/** C2 compiles what was called ten thousand times, on a thread that may have to wait for a processor. */
private const val WARM_UP_CALLS = 20_000
/** Where the cell does not say. */
private const val WARM_UP_MS = 500.0
/** One allocation that is not the way's own, such as the meter's, then weighs little. */
private const val COUNTED_MAX = 300
