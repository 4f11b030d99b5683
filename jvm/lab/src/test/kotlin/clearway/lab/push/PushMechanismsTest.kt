// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.push

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.TestFactory

internal class PushMechanismsTest {
    @TestFactory
    fun `each mechanism delivers every event in order, at a pace and back to back`(): List<DynamicTest> =
        PushMechanisms.all
            .filter { it.unavailable == null }
            .map { kind -> dynamicTest(kind.name) { deliversAll(kind) } }

    private fun deliversAll(kind: PushMechanismKind) {
        kind.open().use { mechanism ->
            for (load in listOf(Load(5_000, 0.0, 8), Load(200, 10_000.0, 1024))) {
                val receiver = Receiver(load, "idle")
                mechanism.run(load, receiver)
                assertTrue(receiver.await(60_000), "received ${receiver.received}")
                assertEquals(load.count, receiver.received)
                assertEquals(0, receiver.outOfOrder)
                // An event cannot arrive before its intended time.
                assertTrue(receiver.latencyNs.all { it >= 0 })
            }
        }
    }
}
