// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.codec

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.TestFactory

internal class LabCodecsTest {
    @TestFactory
    fun `each codec decodes every value, twice from one message`(): List<DynamicTest> =
        LabCodecs.names.map { name -> dynamicTest(name) { givesBack(LabCodecs.named(name)) } }

    private fun givesBack(codec: LabCodec) {
        for (name in Payload.names) {
            val value = Payload.named(name)
            val message = codec.encode(value)
            repeat(2) {
                val read = codec.decode(message.duplicate())
                assertEquals(plain(value, codec.bytesAsText), plain(read, codec.bytesAsText), name)
            }
        }
    }

    @TestFactory
    fun `the list of a thousand items has the length that the family states`(): List<DynamicTest> =
        listOf("clearway", "clearway-into").map { name ->
            dynamicTest(name) {
                assertEquals(14_214, LabCodecs.named(name).encode(Payload.named("1000 items")).remaining())
            }
        }
}
