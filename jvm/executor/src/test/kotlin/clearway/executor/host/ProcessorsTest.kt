// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.host

import clearway.executor.AdaptiveExecutor
import clearway.executor.model.Placement
import java.nio.file.Files
import java.nio.file.Path
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

class ProcessorsTest {
    @TempDir lateinit var cgroups: Path

    private fun second(line: String) = Files.writeString(cgroups.resolve("cpu.max"), "$line\n")

    private fun first(quota: String, period: String) {
        val cpu = Files.createDirectories(cgroups.resolve("cpu"))
        Files.writeString(cpu.resolve("cpu.cfs_quota_us"), "$quota\n")
        Files.writeString(cpu.resolve("cpu.cfs_period_us"), "$period\n")
    }

    @Test
    fun `a container's quota limits the processors, rounded up`() {
        second("150000 100000")
        assertEquals(2, Processors.available(cgroups, seen = 8))
        second("25000 100000")
        assertEquals(1, Processors.available(cgroups, seen = 8))
    }

    @Test
    fun `a quota above the JVM's processors changes nothing`() {
        second("800000 100000")
        assertEquals(2, Processors.available(cgroups, seen = 2))
    }

    @Test
    fun `an unlimited, missing or malformed quota is no limit`() {
        assertNull(Processors.quota(cgroups))
        second("max 100000")
        assertEquals(8, Processors.available(cgroups, seen = 8))
        second("what is this")
        assertEquals(8, Processors.available(cgroups, seen = 8))
    }

    @Test
    fun `a quota of cgroups version 1 limits the processors`() {
        first("200000", "100000")
        assertEquals(2, Processors.available(cgroups, seen = 8))
        first("-1", "100000")
        assertEquals(8, Processors.available(cgroups, seen = 8))
    }

    @Test
    fun `no CPU worker helps when there is one processor`() {
        second("50000 100000")
        AdaptiveExecutor(Processors.available(cgroups, seen = 4)).use { executor ->
            val site = executor.site("busy")
            val spin = {
                val until = System.nanoTime() + 20_000
                while (System.nanoTime() < until) Thread.onSpinWait()
            }
            // Warms the site up, because other threads may join a batch of an unknown site after a while.
            repeat(10) { executor.runAll(site, 50) { spin() } }
            val plan = site.plan(50, executor.live.now)
            assertFalse(plan.place == Placement.CPU, "helpers=${plan.helpers}")
        }
    }

    @Test
    fun `the second field of the scheduler's line is read, and other formats are rejected`() {
        assertEquals(345L, Scheduler.second("12 345 6\n"))
        assertEquals(-1L, Scheduler.second(""))
        assertEquals(-1L, Scheduler.second("a b c"))
    }
}
