// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.model

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

class LoadTest {
    private val load = Load()

    /**
     * Reads the load of a process once per ms. The process uses `processors` processors. Its clock has steps of 10 ms.
     */
    private fun samples(fromMs: Int, untilMs: Int, processors: Double, check: (Double) -> Unit) {
        for (ms in fromMs until untilMs) {
            val cpuNs = (ms * processors * 1e6).toLong() / 10_000_000 * 10_000_000
            load.sample(cpuNs, ms * 1_000_000L)
            check(load.used)
        }
    }

    @Test
    fun `the load of a steady process is accurate to a fifth of a processor for any clock steps`() {
        samples(0, 51, 1.0) {}
        samples(51, 2_000, 1.0) { assertEquals(1.0, it, 0.2) }
    }

    @Test
    fun `the load is unknown before the first window and after a long time without readings`() {
        samples(0, 50, 2.0) { assertEquals(0.0, it) }
        samples(50, 60, 2.0) { assertEquals(2.0, it, 0.2) }
        samples(10_000, 10_050, 2.0) { assertEquals(0.0, it) }
    }

    @Test
    fun `the load is zero when the host counts no processor time`() {
        repeat(200) { load.sample(-1, it * 1_000_000L) }
        assertEquals(0.0, load.used)
    }
}
