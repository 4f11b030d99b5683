// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.push

import com.lmax.disruptor.BlockingWaitStrategy
import com.lmax.disruptor.EventHandler
import com.lmax.disruptor.dsl.Disruptor
import com.lmax.disruptor.dsl.ProducerType
import java.util.concurrent.ThreadFactory
import org.jctools.queues.MpscBlockingConsumerArrayQueue

/**
 * Queues that are designed for hand-overs between threads. Their receivers block instead of spinning, because the
 * receiver may be any thread of an app.
 */
internal val queueMechanisms: List<PushMechanismKind> =
    listOf(PushMechanismKind("jctools-queue") { ByJcTools() }, PushMechanismKind("disruptor") { ByDisruptor() })

/** Capacity of a queue: the size in the first example of the Disruptor's documentation. */
private const val SLOTS = 1024

private class ByJcTools : Sending() {
    private val queue = MpscBlockingConsumerArrayQueue<Event>(SLOTS)
    private val thread = Thread(::takeAll, "receiver").apply { start() }

    override fun send(event: Event) {
        while (!queue.offer(event)) Thread.onSpinWait()
    }

    private fun takeAll() {
        try {
            while (true) queue.take().arrive()
        } catch (closed: InterruptedException) {
            // `close` interrupts the thread.
        }
    }

    override fun close() {
        thread.interrupt()
        thread.join()
    }
}

private class Slot {
    var event: Event? = null
}

private class ByDisruptor : Sending() {
    private val disruptor =
        Disruptor(::Slot, SLOTS, ThreadFactory { Thread(it, "receiver") }, ProducerType.SINGLE, BlockingWaitStrategy())

    init {
        disruptor.handleEventsWith(EventHandler<Slot> { slot, _, _ -> take(slot) })
        disruptor.start()
    }

    override fun send(event: Event) = disruptor.ringBuffer.publishEvent { slot, _ -> slot.event = event }

    private fun take(slot: Slot) {
        val event = slot.event
        slot.event = null // The ring must not keep a reference to a delivered event.
        event?.arrive()
    }

    override fun close() = disruptor.shutdown()
}
