// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.fork

import clearway.lab.Registry
import clearway.lab.protocol.Cell
import clearway.lab.protocol.Operations
import clearway.lab.protocol.serve
import java.io.PrintStream
import java.util.concurrent.TimeUnit
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.jsonObject

/**
 * A child JVM that measures. The runner owns it, and speaks the lab's protocol with it. `close` ends it.
 *
 * @param started how the child is started, if not as usual: see [command].
 */
internal class Fork(started: String = "") : AutoCloseable {
    private val process: Process =
        ProcessBuilder(command(started)).redirectError(ProcessBuilder.Redirect.INHERIT).start()
    private val writer = PrintStream(process.outputStream, true, Charsets.UTF_8)
    private val reader = process.inputReader()

    /** Sends a request and returns the answer. Blocks. Throws if the child answers with an error, or has ended. */
    fun ask(op: String, cell: Cell): JsonObject {
        val request = buildJsonObject {
            put("id", JsonPrimitive(1))
            put("op", JsonPrimitive(op))
            put("cell", cell.toJson())
        }
        writer.println(request)
        val line = reader.readLine() ?: throw ForkEnded("the measuring JVM ended: code=${process.waitFor()}")
        val answer = Json.parseToJsonElement(line).jsonObject
        if ((answer["ok"] as JsonPrimitive).content == "true") return answer.getValue("result").jsonObject
        error((answer.getValue("error").jsonObject.getValue("message") as JsonPrimitive).content)
    }

    override fun close() {
        writer.close()
        if (!process.waitFor(GRACE_S, TimeUnit.SECONDS)) process.destroyForcibly()
    }

    companion object {
        /** Time in seconds until `close` kills the child. Threads that do not end must not delay the run. */
        private const val GRACE_S = 2L

        /** The options of a typical service: the JVM's default collector and compilers, and a heap of fixed size. */
        val options: List<String> =
            listOf("-Xms1g", "-Xmx1g", "-Dkotlinx.coroutines.scheduler.keep.alive.sec=1") +
                // JCTools and other libraries use methods that newer JDKs warn about on stderr, in every child.
                (if (Runtime.version().feature() >= 23) listOf("--sun-misc-unsafe-memory-access=allow")
                else emptyList()) +
                (if (Runtime.version().feature() >= 22) listOf("--enable-native-access=ALL-UNNAMED") else emptyList())

        /** Returns the options with the paths of the native parts, which this runner received as properties. */
        private fun nativePaths(): List<String> =
            System.getProperties()
                .stringPropertyNames()
                .filter { it.startsWith("clearway.") }
                .sorted()
                .map { "-D$it=${System.getProperty(it)}" }

        /**
         * Returns the child's command. `started` has further options of the JVM, or a program that starts it, such as
         * `taskset -c 0`.
         */
        internal fun command(started: String): List<String> {
            val words = started.split(' ').filter { it.isNotEmpty() }
            val (starter, more) = if (started.startsWith("-")) emptyList<String>() to words else words to emptyList()
            val java = "${System.getProperty("java.home")}/bin/java"
            return starter +
                java +
                options +
                more +
                nativePaths() +
                listOf("-cp", System.getProperty("java.class.path"), "clearway.lab.fork.ForkKt")
        }
    }
}

internal class ForkEnded(message: String) : IllegalStateException(message)

/**
 * The child JVMs that measure. Keeps one JVM for each workload of the executors' scenarios and each scenario of *push*
 * during the run. There, rival mechanisms are measured in turn, in code that is compiled for that workload only. Every
 * other measurement gets a fresh JVM, because one measurement could affect the next. One thread uses it.
 */
internal class Forks : AutoCloseable {
    private val kept = HashMap<String, Fork>()

    fun ask(op: String, cell: Cell): JsonObject {
        val started = cell.text("started", "")
        val key = keyOf(cell) ?: return Fork(started).use { it.ask(op, cell) }
        val fork = kept.getOrPut("$key $started") { Fork(started) }
        try {
            return fork.ask(op, cell)
        } catch (ended: ForkEnded) {
            kept.remove("$key $started")
            fork.close()
            throw ended
        }
    }

    override fun close() {
        for (fork in kept.values) fork.close()
        kept.clear()
    }

    private fun keyOf(cell: Cell): String? =
        when (cell.scenario) {
            "published-executors",
            "executors-cold",
            "executors-started" -> "${cell.scenario} ${cell.text("work")}"
            "published-stream-jvm",
            "published-firehose-jvm" -> cell.scenario
            else -> null
        }
}

/** The main program of a [Fork]. */
public fun main() {
    val output = System.out
    System.setOut(System.err)
    // Ends this process if the runner ends during a measurement.
    ProcessHandle.current().parent().ifPresent { parent -> parent.onExit().thenRun { Runtime.getRuntime().halt(1) } }
    serve(System.`in`.bufferedReader(), output, Inside)
    // Halts the JVM, because frameworks leave threads behind. All answers have been written.
    Runtime.getRuntime().halt(0)
}

private object Inside : Operations {
    override fun describe(): JsonObject = throw IllegalArgumentException("a fork measures; the runner describes")

    override fun verify(cell: Cell): JsonObject = buildJsonObject {
        put("verified", JsonPrimitive(true))
        put("result", measure(cell).getValue("result"))
    }

    override fun measure(cell: Cell): JsonObject = Registry.measure(cell).answer(cell)
}
