// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.push

import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger

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
