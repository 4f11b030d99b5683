// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.codec

import clearway.lab.offload.Meters
import clearway.lab.offload.blackhole
import clearway.lab.offload.median
import clearway.lab.protocol.Cell
import clearway.lab.protocol.Measured
import clearway.lab.protocol.Value
import java.nio.ByteBuffer
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject
import org.openjdk.jmh.infra.Blackhole

/**
 * Measures one codec with one value. Encodes and decodes many times on one thread, and sends nothing. Runs in a
 * separate JVM.
 */
internal fun measureCodec(cell: Cell): Measured {
    val codec = LabCodecs.named(cell.mechanism)
    val value = Payload.named(cell.text("value"))
    val batches = cell.int("batches")
    val into = blackhole()
    // Copies the message, because the codec may overwrite its memory.
    val written = codec.encode(value)
    val message = ByteBuffer.wrap(ByteArray(written.remaining()).also { written.get(it) })
    val equal = plain(value, codec.bytesAsText) == plain(codec.decode(message), codec.bytesAsText)
    val encodeUs = timeUs(batches, into) { codec.encode(value) }
    val decodeUs = timeUs(batches, into) { codec.decode(message) }
    val before = Meters.allocatedBytes()
    repeat(COUNTED) {
        into.consume(codec.encode(value))
        into.consume(codec.decode(message))
    }
    val allocated = (Meters.allocatedBytes() - before) / COUNTED.toDouble()
    val values =
        mapOf(
            "encode" to Value("us", encodeUs),
            "decode" to Value("us", decodeUs),
            "both" to Value("us", encodeUs + decodeUs),
            "messageBytes" to Value("bytes", message.remaining().toDouble()),
            "allocatedBytes" to Value("bytes", allocated),
        )
    return Measured(emptyMap(), values, buildJsonObject { put("equal", JsonPrimitive(equal)) })
}

/** Returns the time of one call in us: the median of `batches` batches, each long enough for the clock. */
private fun timeUs(batches: Int, into: Blackhole, call: () -> Any?): Double {
    fun batchNs(count: Int): Long {
        val begin = System.nanoTime()
        repeat(count) { into.consume(call()) }
        return System.nanoTime() - begin
    }
    var count = 1
    var calls = 0
    val begin = System.nanoTime()
    while (calls < WARM_UP_CALLS || System.nanoTime() - begin < WARM_UP_NS) {
        // Doubles the calls until a batch is long enough. The code is compiled before the timed batches.
        if (batchNs(count) < BATCH_NS_MIN) count *= 2
        calls += count
        if (System.nanoTime() - begin > WARM_UP_NS_MAX) break
    }
    return median(LongArray(batches) { batchNs(count) }) / count / 1e3
}

/** Minimum duration of a batch, in ns: two thousand steps of a clock with steps of 50 ns. */
private const val BATCH_NS_MIN = 100_000L
/**
 * Minimum number of calls of the warm-up. C2 compiles a method after ten thousand calls, on a thread that may have to
 * wait for a processor.
 */
private const val WARM_UP_CALLS = 12_000
private const val WARM_UP_NS = 100_000_000L
private const val WARM_UP_NS_MAX = 1_000_000_000L
private const val COUNTED = 2_000
