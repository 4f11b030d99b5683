// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.push

import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.locks.LockSupport

/** When the sender sends the events of a load. */
internal enum class Pace {
    /** Each event has an intended time, which is fixed before the run. The sender spins shortly before it. */
    INTENDED,
    /**
     * The published loop: the sender stamps an event, sends it, and sleeps for the interval. A late sender delays all
     * later events, and an event that waits in the sender is not late.
     */
    STAMPED,
}

/**
 * The events to send. If `perSecond` is 0, the load is a firehose: events follow each other directly. A firehose with
 * intended times does not read the clock; a stamped one stamps each event.
 */
internal class Load(val count: Int, val perSecond: Double, val payloadBytes: Int, val pace: Pace = Pace.INTENDED) {
    val firehose: Boolean
        get() = perSecond == 0.0

    /**
     * Returns a new body of non-zero bytes. Returns null if `payloadBytes` is at most 8, because the event's intended
     * time counts as 8 bytes.
     */
    fun body(): ByteArray? = if (payloadBytes <= 8) null else ByteArray(payloadBytes).also { it.fill(7) }
}

/**
 * One event and its receiver. `sentNs` is the time from which its delay counts: the intended time or the stamp. The
 * event names its receiver, because a mechanism that is opened once serves several runs. Immutable.
 */
internal class Event(val i: Int, val sentNs: Long, val body: ByteArray?, val to: Receiver) {
    fun arrive() = to.receive(this)
}

/**
 * Calls `send` for every event at the pace of the load. With intended times, a late event does not change the times of
 * the others. The function is inline, so that `send` may suspend if the caller may.
 */
internal inline fun emitAll(load: Load, receiver: Receiver, send: (Event) -> Unit) {
    val stamped = load.pace == Pace.STAMPED
    val start = System.nanoTime() + if (load.firehose || stamped) 0 else HEAD_START_NS
    val stepNs = if (load.firehose) 0.0 else 1e9 / load.perSecond
    for (i in 0 until load.count) {
        val intended = start + (i * stepNs).toLong()
        if (load.firehose) receiver.noteSent() else if (!stamped) untilNs(intended)
        send(Event(i, if (stamped) System.nanoTime() else intended, load.body(), receiver))
        if (stamped && !load.firehose) sleepNs(stepNs.toLong())
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

/**
 * Records every arrival, and simulates a busy or stalled receiver. One thread at a time calls `receive`, and each call
 * happens-before the next. Read the figures after [await] has returned.
 */
internal class Receiver(private val load: Load, state: String) {
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
    private val block = blockOf(state)
    private var blockAt = System.nanoTime()
    private var beyondFrameNs = 0L

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
        if (block != null && now >= blockAt) hold(block)
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

    /** Returns how long the receiving thread was held beyond a 60 Hz frame, in ms per second of the run. */
    fun hitchRatio(): Double = beyondFrameNs / 1e6 / ((lastNs - firstNs) / 1e9)

    /** Simulates other work of the receiving thread. Events that arrive meanwhile wait. */
    private fun hold(block: Block) {
        val begin = System.nanoTime()
        while (System.nanoTime() - begin < block.blockMs * 1_000_000L) Thread.onSpinWait()
        beyondFrameNs += maxOf(0, System.nanoTime() - begin - FRAME_NS)
        blockAt = begin + block.everyMs * 1_000_000L
    }

    private class Block(val blockMs: Int, val everyMs: Int)

    internal companion object {
        const val QUARTERS = 4
        private const val FRAME_NS = 16_666_667L

        private fun blockOf(state: String): Block? =
            when (state) {
                "idle" -> null
                "half-busy" -> Block(blockMs = 5, everyMs = 10)
                "stalled" -> Block(blockMs = 30, everyMs = 300)
                else -> throw IllegalArgumentException("no such state: receiver=$state (idle, half-busy, stalled)")
            }
    }
}
