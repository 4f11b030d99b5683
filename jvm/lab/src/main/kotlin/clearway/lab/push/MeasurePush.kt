// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.push

import clearway.lab.protocol.Cell
import clearway.lab.protocol.Measured
import clearway.lab.protocol.Samples
import clearway.lab.protocol.Value
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.locks.LockSupport
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

/** The events to send. If `perSecond` is 0, the load is a firehose: events follow each other directly. */
internal class Load(val count: Int, val perSecond: Double, val payloadBytes: Int) {
    val firehose: Boolean
        get() = perSecond == 0.0

    /**
     * Returns a new body of non-zero bytes. Returns null if `payloadBytes` is at most 8, because the event's stamp
     * counts as 8 bytes.
     */
    fun body(): ByteArray? = if (payloadBytes <= 8) null else ByteArray(payloadBytes).also { it.fill(7) }
}

/**
 * One event and its receiver. `sentNs` is its stamp, from which its delay counts. The event names its receiver, because
 * a mechanism that is opened once serves several runs. Immutable.
 */
internal class Event(val i: Int, val sentNs: Long, val body: ByteArray?, val to: Receiver) {
    fun arrive() = to.receive(this)
}

/**
 * The published loop: stamps an event, calls `send`, and sleeps for the interval. A late sender delays all later
 * events, and an event that waits in the sender is not late. The function is inline, so that `send` may suspend if the
 * caller may.
 */
internal inline fun emitAll(load: Load, receiver: Receiver, send: (Event) -> Unit) {
    for (i in 0 until load.count) {
        if (load.firehose) receiver.noteSent()
        send(Event(i, System.nanoTime(), load.body(), receiver))
        if (!load.firehose) sleepNs((1e9 / load.perSecond).toLong())
    }
}

/** Sleeps for `ns`. Sleeps again after an early wake, because frameworks unpark the threads that they use. */
internal fun sleepNs(ns: Long) {
    val end = System.nanoTime() + ns
    while (true) {
        val left = end - System.nanoTime()
        if (left <= 0) return
        LockSupport.parkNanos(left)
    }
}

/**
 * Records every arrival. One thread at a time calls `receive`, and each call happens-before the next. Read the figures
 * after [await] has returned.
 */
internal class Receiver(private val load: Load) {
    val latencyNs = LongArray(if (load.firehose) 0 else load.count)
    var received = 0
        private set

    var outOfOrder = 0
        private set

    var backlogMax = 0
        private set

    /** The backlog at the first arrival after a quarter, half, three quarters and all of the events had been sent. */
    val backlogs = IntArray(QUARTERS)
    private var quarter = 0
    private var quarterAt = quarterEnd(0)

    var firstNs = 0L
        private set

    var lastNs = 0L
        private set

    private val sent = AtomicInteger()
    private val done = CountDownLatch(1)
    private var next = 0

    fun noteSent() {
        sent.incrementAndGet()
    }

    fun receive(event: Event) {
        val now = System.nanoTime()
        if (load.firehose) {
            noteBacklog(sent.get())
        } else {
            latencyNs[event.i] = now - event.sentNs
        }
        if (received == 0) firstNs = event.sentNs
        if (event.i != next) outOfOrder++
        next = event.i + 1
        received++
        lastNs = now
        if (received == load.count) done.countDown()
    }

    private fun noteBacklog(sent: Int) {
        val backlog = sent - received
        backlogMax = maxOf(backlogMax, backlog)
        while (quarter < QUARTERS && sent >= quarterAt) {
            backlogs[quarter++] = backlog
            quarterAt = quarterEnd(quarter)
        }
    }

    /** Returns the number of events with which a quarter ends. */
    private fun quarterEnd(quarter: Int): Long = (load.count * (quarter + 1L) + QUARTERS - 1) / QUARTERS

    /** Waits up to `limitMs` for all events. Returns false if some did not arrive. */
    fun await(limitMs: Long): Boolean = done.await(limitMs, TimeUnit.MILLISECONDS)

    internal companion object {
        const val QUARTERS = 4
    }
}
