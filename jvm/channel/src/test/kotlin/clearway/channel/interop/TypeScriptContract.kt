// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.interop

import clearway.channel.CallOptions
import clearway.channel.Endpoint
import clearway.channel.ListenOptions
import clearway.channel.MethodTable
import clearway.channel.Outcome
import clearway.channel.OutcomeKind
import clearway.channel.RemoteCause
import clearway.channel.RemoteException
import clearway.channel.Reply
import clearway.channel.codec.Codecs
import clearway.channel.transport.CloseCode
import clearway.channel.transport.StreamTransport
import java.io.File
import java.math.BigInteger
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import org.junit.jupiter.api.AfterAll
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Assumptions.assumeTrue
import org.junit.jupiter.api.BeforeAll
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestInstance

/**
 * Starts programs in Node. Tests that need the TypeScript end are skipped if this checkout's TypeScript is not built.
 */
object Node {
    private val root =
        generateSequence(File("").absoluteFile) { it.parentFile }.first { File(it, "conformance").isDirectory }
    val isBuilt: Boolean = File(root, "ts/clearway/dist/node/channel.js").exists()

    fun start(vararg args: String): Process =
        ProcessBuilder(System.getenv("CLEARWAY_NODE") ?: "node", "$root/jvm/channel/src/test/node/peer.mjs", *args)
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start()
}

/**
 * The contract between a JVM endpoint and a TypeScript endpoint, over any transport. Both ends call, handle, listen and
 * serve.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class TypeScriptContract {
    abstract val endpoint: Endpoint

    private val ts
        get() = endpoint.methods("ts")

    private fun <T> get(future: CompletableFuture<T>): T = future.get(60, TimeUnit.SECONDS)

    @Test
    fun `values keep their types there and back`() {
        val values =
            listOf(null, true, 7, 1L shl 40, BigInteger.ONE.shiftLeft(80), 0.5, "Zoë \uD83D\uDE02", mapOf("a" to 1))
        assertEquals(values, get(ts.call<Any?>("echo", values)))
        assertEquals(3.0, get(ts.call<Any?>("half", 6)))
        assertEquals(6, get(ts.call<Any?>("sum", intArrayOf(1, 2, 3))))
        val doubles = DoubleArray(5_000) { it / 8.0 }
        assertArrayEquals(doubles, get(ts.call<DoubleArray>("echo", doubles)))
    }

    @Test
    fun `what that end passes on as bytes is read here, however it came`() {
        val value = mapOf("list" to ByteArray(100_000) { it.toByte() }, "text" to "x")
        val back = get(endpoint.messages("ts/bytes").send(value)).value as Map<*, *>
        assertArrayEquals(value["list"] as ByteArray, back["list"] as ByteArray)
    }

    @Test
    fun `a large list comes beside its message`() {
        val large = get(ts.call<ByteArray>("large", 1_000_000))
        assertArrayEquals(ByteArray(1_000_000) { it.toByte() }, large)
        val views = endpoint.methods("ts", Codecs.STANDARD_METHODS.with(Codecs.STANDARD.withViews()))
        assertEquals(1_000_000, get(views.call<java.nio.ByteBuffer>("large", 1_000_000)).remaining())
    }

    @Test
    fun `errors come with code, details, class and cause`() {
        val refused = get(Outcome.of(ts.call<Any?>("refuse"))).error as RemoteException
        assertEquals(listOf("OUT_OF_RANGE", mapOf("max" to 8)), listOf(refused.code, refused.details))
        val broken = get(Outcome.of(ts.call<Any?>("break"))).error as RemoteException
        assertEquals("TypeError", (broken.cause as RemoteCause).remoteName)
        assertEquals("RangeError", (broken.cause?.cause as RemoteCause).remoteName)
        assertEquals(OutcomeKind.NOT_IMPLEMENTED, get(Outcome.of(ts.call<Any?>("none"))).kind)
    }

    @Test
    fun `a cancelled call is cancelled there`() {
        val heard = CountDownLatch(1)
        val ends =
            endpoint.messages("heard").handle { _, _ ->
                heard.countDown()
                Reply.empty()
            }
        val call = ts.call<Any?>("never", null, CallOptions().deadlineMs(60_000))
        get(ts.call<Any?>("echo", 1)) // `never` has arrived at the other end by now
        call.cancel(true)
        heard.await()
        ends.close()
    }

    @Test
    fun `a generator there is read here, with credit`() {
        endpoint.events("ts/numbers").listen<Int>(5, ListenOptions().window(4)).use { numbers ->
            assertEquals((5 until 105).toList(), numbers.take(100))
        }
        val pushed = endpoint.events("ts/pushed").listen<Int>(null, ListenOptions.latest())
        assertEquals(99, pushed.toList().last())
        assertTrue(pushed.dropped in 0..99)
    }

    @Test
    fun `that end calls and listens here`() {
        val ends = jvmEnd(endpoint)
        val back = get(ts.call<Map<String, Any?>>("back", 50))
        val failed = mapOf("code" to "NO", "details" to 7, "name" to "clearway.channel.RemoteException")
        val expected =
            mapOf(
                "seen" to (0 until 50).toList(),
                "twice" to 42,
                "large" to 100_000,
                "passed" to listOf(100_000, 7, 5000, 1.5, "x"),
                "failed" to failed,
                "missing" to "not-implemented",
            )
        assertEquals(expected, back)
        for (each in ends) each.close()
    }
}

/** Serves the channels that the other end's tests call. Closing the returned handles stops serving them. */
fun jvmEnd(endpoint: Endpoint): List<AutoCloseable> =
    listOf(
        endpoint
            .methods("jvm")
            .handle(
                MethodTable()
                    .on("twice") { args, _ -> 2 * (args as Int) }
                    .on("large") { args, _ -> ByteArray(args as Int) }
                    .on("refuse") { _, _ -> throw RemoteException("NO", "not today", 7) }
            ),
        endpoint.messages("jvm/bytes", Codecs.BINARY).handle { bytes, _ -> Reply.of(bytes) },
        endpoint.events("jvm/numbers").serveEach({ args -> generateSequence(args as Int) { it + 1 }.asIterable() }),
    )

/** A program that runs a JVM endpoint as the child of another process. */
object Child {
    @JvmStatic
    fun main(args: Array<String>) {
        val endpoint = Endpoint.connect(StreamTransport.ofParent()).get()
        println("this goes to the standard error, and stands between no frames")
        jvmEnd(endpoint)
        endpoint.closed.get()
    }

    /** The command that starts the program. */
    val command: List<String> =
        listOf(
            "${System.getProperty("java.home")}/bin/java",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            "clearway.channel.interop.Child",
        )
}

class StdioInteropTest : TypeScriptContract() {
    override lateinit var endpoint: Endpoint
    private lateinit var node: Process

    @BeforeAll
    fun start() {
        assumeTrue(Node.isBuilt, "TypeScript is not built: node scripts/build.mjs")
        node = Node.start("stdio")
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
