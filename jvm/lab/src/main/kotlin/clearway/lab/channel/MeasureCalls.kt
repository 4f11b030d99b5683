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
 * Measures one row with one mechanism. Makes round trips one at a time, and also three in flight if the answer arrives
 * after the call has returned. Runs in a separate JVM.
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
        // Counts in separate calls, not in the timed ones, as on the other hosts.
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

/** Makes calls until both ends have compiled their code, or the time is over. */
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

/**
 * Returns samples of batches that are long enough for the clock. Doubles the calls per batch until the shortest of
 * three batches is long enough.
 */
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

/** Whether the answer equals the row's value, as far as the codec preserves types. */
private fun isEcho(row: Row, answer: Any?): Boolean =
    if (row.isBinary)
        ByteBuffer.wrap(row.value as ByteArray) == (answer as? ByteBuffer ?: ByteBuffer.wrap(answer as ByteArray))
    else plain(row.value, false) == plain(answer, false)

private const val LANES = 3
/**
 * Minimum duration of a batch, in ns. It is the same as on the other hosts, and at least a hundred times a clock
 * reading.
 */
private const val BATCH_NS_MIN = 10_000L
private const val BATCH_MAX = 1024
/**
 * Maximum number of calls of the warm-up. C2 compiles a method after ten thousand calls, on a thread that may have to
 * wait for a processor.
 */
private const val WARM_UP_CALLS = 20_000
/** Maximum duration of the warm-up, in ms, if the cell does not set it. */
private const val WARM_UP_MS = 500.0
/**
 * Maximum number of counted calls. It is high enough that other allocations, such as the meter's own, hardly matter.
 */
private const val COUNTED_MAX = 300
