// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin

import java.lang.foreign.MemorySegment
import java.nio.ByteBuffer
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

@NeedsPlugins
class LeaksTest {
    @Test
    fun `a hundred thousand messages of each kind leave no memory behind`() {
        open().use { plugin ->
            val before = live(plugin)
            val echo = plugin.channel("echo")
            val make = plugin.channel("make")
            val pool = plugin.channel("pool/echo")
            val small = int32s(1)
            val large = MemorySegment.ofBuffer(ByteBuffer.allocateDirect(5000))
            val lent = plugin.lend(large)
            repeat(100_000) {
                echo.call(small).close()
                echo.call(lent).close()
            }
            repeat(20_000) { make.call(int32s(100)).close() }
            repeat(100) {
                val sent = List(200) { at -> if (at % 2 == 0) pool.send(small) else pool.send(Payload.of(large)) }
                for (each in sent) each.join().close()
            }
            lent.close()
            lent.returned.join()
            backTo(before, plugin)
            assertEquals(0, plugin.stats().leaked)
            assertEquals(0, plugin.stats().native.getValue("calls"))
        }
    }
}
