// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

import java.io.File
import java.util.concurrent.TimeUnit
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Assumptions.assumeTrue
import org.junit.jupiter.api.Test

/** Tests JVMs that lack or forbid some features. The meter must use the other features. */
class PoorHostTest {
    private fun run(vararg options: String): List<String> {
        val java = File(System.getProperty("java.home"), "bin/java").path
        val path = listOf("-Xmx128m", "-cp", System.getProperty("java.class.path"), MeterProgram::class.java.name)
        val output = File.createTempFile("clearway", ".txt")
        val process =
            ProcessBuilder(listOf(java) + options + path).redirectErrorStream(true).redirectOutput(output).start()
        try {
            val ended = process.waitFor(90, TimeUnit.SECONDS)
            val said = output.readLines()
            assertTrue(ended, "it hangs: $said")
            assertEquals(0, process.exitValue(), "$said")
            return said
        } finally {
            process.destroyForcibly()
            output.delete()
        }
    }

    @Test
    fun `the meter reports stalls without the module java-management`() {
        val said = run("--limit-modules=java.base")
        assertTrue("heartbeat: true" in said && "garbage collection: false" in said, "$said")
        assertTrue("measured: 7" in said, "$said")
    }

    @Test
    fun `the meter reports stalls without stacks under a security manager`() {
        assumeTrue(Runtime.version().feature() < 24, "this JDK has no security manager")
        val said = run("-Djava.security.manager")
        assertTrue("heartbeat: true" in said && "stacks: false" in said, "$said")
        assertTrue("measured: 7" in said, "$said")
    }
}
