// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.push

import java.util.concurrent.ConcurrentHashMap
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestFactory

internal class PushMechanismsTest {
    @TestFactory
    fun `each mechanism and chain delivers every event in order, at a pace and back to back`(): List<DynamicTest> =
        PushMechanisms.all
            .filter { it.unavailable == null }
            .map { kind -> dynamicTest(kind.name) { deliversAll(kind) } }

    private fun deliversAll(kind: PushMechanismKind) {
        kind.open().use { mechanism ->
            for (load in listOf(Load(5_000, 0.0, 8), Load(200, 10_000.0, 1024))) {
                val receiver = Receiver(load)
                mechanism.run(load, receiver)
                assertTrue(receiver.await(60_000), "received ${receiver.received}")
                assertEquals(load.count, receiver.received)
                assertEquals(0, receiver.outOfOrder)
                // An event cannot arrive before its stamp.
                assertTrue(receiver.latencyNs.all { it >= 0 })
            }
        }
    }

    /** Keeps the events that it sends. */
    private class Keeping : Sending() {
        val events = ArrayList<Event>()

        override fun send(event: Event) {
            events += event
            event.arrive()
        }
    }

    @Test
    fun `a sender stamps each event and sleeps for the interval after it`() {
        val load = Load(20, 1_000.0, 8)
        val sender = Keeping()
        sender.run(load, Receiver(load))
        assertEquals(20, sender.events.size)
        for ((earlier, later) in sender.events.zipWithNext()) assertTrue(later.sentNs - earlier.sentNs >= 1_000_000)
    }

    @Test
    fun `a firehose stamps each event`() {
        val load = Load(2_000, 0.0, 8)
        val sender = Keeping().also { it.run(load, Receiver(load)) }
        assertTrue(sender.events.map { it.sentNs }.distinct().size > 1)
    }

    @Test
    fun `a firehose has the backlog after each quarter that was sent`() {
        val load = Load(8, 0.0, 8)
        val receiver = Receiver(load)
        // Four events are sent before the first one arrives, and the others before the fourth.
        repeat(4) { receiver.noteSent() }
        repeat(3) { receiver.receive(Event(it, 0, null, receiver)) }
        repeat(4) { receiver.noteSent() }
        for (i in 3 until 8) receiver.receive(Event(i, 0, null, receiver))
        assertEquals(listOf(4, 4, 5, 5), receiver.backlogs.toList())
        assertEquals(5, receiver.backlogMax)
        assertTrue(receiver.await(0))
    }

    @Test
    fun `a firehose of one event fills all quarters, and one without its last event has no last quarter`() {
        val one = Receiver(Load(1, 0.0, 8))
        one.noteSent()
        one.receive(Event(0, 0, null, one))
        assertEquals(listOf(1, 1, 1, 1), one.backlogs.toList())
        val cut = Receiver(Load(4, 0.0, 8))
        repeat(3) { cut.noteSent() }
        cut.receive(Event(0, 0, null, cut))
        assertEquals(listOf(3, 3, 3, 0), cut.backlogs.toList())
        assertFalse(cut.await(0))
    }

    /** A hop that keeps its name and passes events on. */
    private class Named(private val name: String, val passed: MutableList<String>, val next: (Event) -> Unit) : Hop {
        override fun pass(event: Event) {
            passed += "$name ${event.i}"
            next(event)
        }

        override fun close() {
            passed += "$name closed"
        }
    }

    @Test
    fun `a chain passes each event through its hops in order, and ends them in the same order`() {
        val passed = ArrayList<String>()
        val kinds =
            listOf("first", "second", "third").map<String, HopKind> { name -> { next -> Named(name, passed, next) } }
        val load = Load(2, 0.0, 8)
        val receiver = Receiver(load)
        Chain(kinds).use { it.run(load, receiver) }
        assertEquals(2, receiver.received)
        val each = listOf(0, 1).flatMap { i -> listOf("first $i", "second $i", "third $i") }
        assertEquals(each + listOf("first closed", "second closed", "third closed"), passed)
    }

    @TestFactory
    fun `the last hop of a chain delivers on a thread that is not the sender's, and no thread is left after close`() =
        PushMechanisms.all
            .filter { it.name.startsWith("chain-") }
            .map { kind ->
                dynamicTest(kind.name) {
                    val before = Thread.getAllStackTraces().keys
                    val during = ConcurrentHashMap.newKeySet<Thread>()
                    kind.open().use { mechanism ->
                        val load = Load(100, 0.0, 8)
                        val receiver = Receiver(load)
                        mechanism.run(load, receiver)
                        assertTrue(receiver.await(60_000))
                        during += (Thread.getAllStackTraces().keys - before).filter { HOP.containsMatchIn(it.name) }
                    }
                    // Each change of threads has a thread of its own.
                    val hops = kind.name.split("-").drop(1).count { it != "direct" }
                    assertEquals(hops, during.size, "$during")
                    for (thread in during) thread.join(60_000)
                    assertTrue(during.none { it.isAlive })
                }
            }

    private companion object {
        /** The names of the threads of executors and of streams. */
        val HOP = Regex("^(pool-\\d+-|stream)")
    }
}
