// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.push

import clearway.lab.protocol.Cell
import clearway.lab.protocol.Measured
import clearway.lab.protocol.Samples
import clearway.lab.protocol.Value
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject

/** Runs one push measurement. Warms up the mechanism, runs the load once, and returns counts, order and figures. */
internal fun measurePush(cell: Cell): Measured {
    val kind = PushMechanisms.named(cell.mechanism)
    val load = Load(cell.int("count"), cell.number("perSecond"), cell.int("payloadBytes"))
    return kind.open().use { mechanism ->
        // The first run compiles the code. The second run sends at a pace, so it also compiles the waiting.
        runOnce(mechanism, Load(20_000, 0.0, 8))
        runOnce(mechanism, Load(500, 2_500.0, load.payloadBytes))
        val receiver = runOnce(mechanism, load)
        val result = buildJsonObject {
            put("received", JsonPrimitive(receiver.received))
            put("outOfOrder", JsonPrimitive(receiver.outOfOrder))
        }
        if (load.firehose) {
            Measured(emptyMap(), firehoseFigures(load, receiver), result)
        } else {
            Measured(mapOf("latency" to Samples("us", receiver.latencyNs)), emptyMap(), result)
        }
    }
}

/**
 * A firehose has a throughput and a backlog, and no latency: each event waits behind all events that were sent before
 * it, so a delay would only say how long the queue had become.
 */
private fun firehoseFigures(load: Load, receiver: Receiver): Map<String, Value> {
    val seconds = (receiver.lastNs - receiver.firstNs) / 1e9
    val backlogs =
        receiver.backlogs.mapIndexed { at, backlog ->
            "backlogSent${100 * (at + 1) / Receiver.QUARTERS}" to Value("events", backlog.toDouble())
        }
    return mapOf(
        "throughput" to Value("events/s", load.count / seconds),
        "backlogMax" to Value("events", receiver.backlogMax.toDouble()),
    ) + backlogs
}

private fun runOnce(mechanism: PushMechanism, load: Load): Receiver {
    val receiver = Receiver(load)
    mechanism.run(load, receiver)
    val limitMs = LOST_AFTER_MS + if (load.firehose) 0 else (load.count / load.perSecond * 1000).toLong()
    check(receiver.await(limitMs)) { "events were lost: received=${receiver.received} of ${load.count}" }
    return receiver
}

/**
 * Time in ms after which missing events count as lost. It is longer than any delay of a load on a busy machine. A lost
 * event then ends the measurement instead of hanging it.
 */
private const val LOST_AFTER_MS = 20_000L
