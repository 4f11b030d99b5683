// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.push

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.TestFactory

internal class WaysTest {
    @TestFactory
    fun `each way delivers every event in order, at a pace and back to back`(): List<DynamicTest> =
        Ways.all.filter { it.unavailable == null }.map { kind -> dynamicTest(kind.name) { bringsAll(kind) } }

    private fun bringsAll(kind: WayKind) {
        kind.open().use { way ->
            for (load in listOf(Load(5_000, 0.0, 8), Load(200, 10_000.0, 1024))) {
                val receiver = Receiver(load, "idle")
                way.run(load, receiver)
                assertTrue(receiver.await(60_000), "received ${receiver.received}")
                assertEquals(load.count, receiver.received)
                assertEquals(0, receiver.outOfOrder)
                // An event cannot arrive before its intended time.
                assertTrue(receiver.latencyNs.all { it >= 0 })
            }
        }
    }
}
