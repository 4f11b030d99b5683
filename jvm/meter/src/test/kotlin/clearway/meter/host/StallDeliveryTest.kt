// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.host

import clearway.meter.Stall
import clearway.meter.StallCause
import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class StallDeliveryTest {
    private val received = CopyOnWriteArrayList<Int>()
    private val begun = CountDownLatch(1)
    private val release = CountDownLatch(1)

    private fun stall(number: Int) =
        Stall(number.toDouble(), 10.0, 0.0, StallCause.APP, "test", 0.0, 0.0, emptyList(), emptyList())

    private fun StallDelivery.addAll(numbers: IntRange) = numbers.forEach { add(stall(it)) }

    /** Blocks in the first call, until [release] opens. */
    private fun receive(stall: Stall) {
        begun.countDown()
        release.await()
        received += stall.startMs.toInt()
    }

    @Test
    fun `close returns after onStall has received every stall in order`() {
        val delivery = StallDelivery({ received += it.startMs.toInt() }, MINUTE_MS)
        delivery.addAll(1..100)
        delivery.close()
        assertEquals((1..100).toList(), received)
    }

    @Test
    fun `the oldest waiting stalls are dropped while onStall is slow`() {
        val delivery = StallDelivery(::receive, MINUTE_MS)
        delivery.add(stall(0))
        begun.await()
        delivery.addAll(1..StallDelivery.WAITING_MAX + 10)
        release.countDown()
        delivery.close()
        assertEquals(listOf(0) + (11..StallDelivery.WAITING_MAX + 10), received)
    }

    @Test
    fun `close interrupts an onStall that hangs, and drops the waiting stalls`() {
        val delivery = StallDelivery(::receive, closeMs = 1)
        delivery.add(stall(0))
        begun.await()
        delivery.add(stall(1))
        delivery.close()
        delivery.add(stall(2))
        release.countDown()
        delivery.close()
        assertFalse(1 in received || 2 in received)
    }

    @Test
    fun `close returns when onStall ignores interrupts, and the thread keeps its interrupt`() {
        val ended = CountDownLatch(1)
        val delivery =
            StallDelivery(
                {
                    begun.countDown()
                    while (release.count > 0) Thread.onSpinWait()
                    ended.countDown()
                },
                closeMs = 1,
            )
        delivery.add(stall(0))
        begun.await()
        Thread.currentThread().interrupt()
        delivery.close()
        assertTrue(Thread.interrupted())
        release.countDown()
        assertTrue(ended.await(60, TimeUnit.SECONDS))
    }

    @Test
    fun `onStall may close its delivery, and receives the waiting stalls afterwards`() {
        lateinit var delivery: StallDelivery
        val ended = CountDownLatch(2)
        delivery =
            StallDelivery(
                {
                    begun.await()
                    delivery.close()
                    received += it.startMs.toInt()
                    ended.countDown()
                },
                MINUTE_MS,
            )
        delivery.addAll(1..2)
        begun.countDown()
        assertTrue(ended.await(60, TimeUnit.SECONDS))
        assertEquals(listOf(1, 2), received)
    }

    private companion object {
        const val MINUTE_MS = 60_000L
    }
}
