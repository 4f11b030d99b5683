// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.push

import java.util.concurrent.locks.LockSupport

/**
 * The events to send. If `perSecond` is 0, the load is a firehose: events follow each other directly, without a clock.
 */
internal class Load(val count: Int, val perSecond: Double, val payloadBytes: Int) {
    val firehose: Boolean
        get() = perSecond == 0.0

    /**
     * Returns a new body of non-zero bytes. Returns null if `payloadBytes` is at most 8, because the event's intended
     * time counts as 8 bytes.
     */
    fun body(): ByteArray? = if (payloadBytes <= 8) null else ByteArray(payloadBytes).also { it.fill(7) }
}

/**
 * One event and its receiver. The event names its receiver, because a mechanism that is opened once serves several
 * runs. Immutable.
 */
internal class Event(val i: Int, val intendedNs: Long, val body: ByteArray?, val to: Receiver) {
    fun arrive() = to.receive(this)
}

/**
 * Calls `send` for every event at its intended time, or as soon after it as the thread can. A late event does not
 * change the intended times of the others. The function is inline, so that `send` may suspend if the caller may.
 */
internal inline fun emitAll(load: Load, receiver: Receiver, send: (Event) -> Unit) {
    val start = System.nanoTime() + if (load.firehose) 0 else HEAD_START_NS
    val stepNs = if (load.firehose) 0.0 else 1e9 / load.perSecond
    for (i in 0 until load.count) {
        val intended = start + (i * stepNs).toLong()
        if (load.firehose) receiver.noteSent() else untilNs(intended)
        send(Event(i, intended, load.body(), receiver))
    }
}

/** Returns at `time` of System.nanoTime, or at once if that time has passed. Sleeps first, then spins. */
internal fun untilNs(time: Long) {
    while (true) {
        val left = time - System.nanoTime()
        if (left <= 0) return
        if (left > AWAKE_NS) LockSupport.parkNanos(left - AWAKE_NS) else Thread.onSpinWait()
    }
}

/** Delay of the first event, in ns, so that the start-up does not make the event late. */
internal const val HEAD_START_NS = 5_000_000L

/**
 * Length of the last part of a wait, in ns. In this part, the thread spins instead of sleeping. A sleeping thread wakes
 * about 60 us late (timer slack of 50 us, and the wake); a spinning thread is on time.
 */
private const val AWAKE_NS = 150_000L
