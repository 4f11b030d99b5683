// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.interop

import clearway.channel.Endpoint
import clearway.channel.transport.CloseCode
import clearway.channel.transport.StreamTransport
import java.util.concurrent.TimeUnit
import org.junit.jupiter.api.AfterAll
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assumptions.assumeTrue
import org.junit.jupiter.api.BeforeAll
import org.junit.jupiter.api.Test

class StdioInteropTest : TypeScriptContract() {
    override lateinit var endpoint: Endpoint
    private lateinit var node: Process

    @BeforeAll
    fun start() {
        assumeTrue(Node.isBuilt, "TypeScript is not built: node scripts/build.mjs")
        node = Node.start("stdio.mjs")
        endpoint = Endpoint.connect(StreamTransport.ofChild(node)).get(60, TimeUnit.SECONDS)
    }

    @AfterAll
    fun stop() {
        if (!Node.isBuilt) return
        endpoint.close()
        assertEquals(0, node.waitFor())
    }

    @Test
    fun `a JVM is the child of Node, and ends when that is done`() {
        val told = endpoint.methods("ts").call<Map<*, *>>("child", Child.command).get(60, TimeUnit.SECONDS)
        assertEquals(mapOf("answer" to 8, "status" to 0), told)
    }

    @Test
    fun `a child's death is told after its last frame`() {
        val child = ProcessBuilder(Child.command).redirectError(ProcessBuilder.Redirect.DISCARD).start()
        val end = Endpoint.connect(StreamTransport.ofChild(child)).get(60, TimeUnit.SECONDS)
        assertEquals(4, end.methods("jvm").call<Int>("twice", 2).get(60, TimeUnit.SECONDS))
        child.destroyForcibly()
        val reason = end.closed.get(60, TimeUnit.SECONDS)
        assertEquals(CloseCode.LOST, reason.code)
        assertEquals(setOf("exitCode"), reason.detail.keys)
    }
}
