// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin

import clearway.plugin.abi.Library
import java.io.File
import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.CompletionException
import java.util.concurrent.ExecutionException
import org.junit.jupiter.api.extension.ConditionEvaluationResult
import org.junit.jupiter.api.extension.ExecutionCondition
import org.junit.jupiter.api.extension.ExtendWith
import org.junit.jupiter.api.extension.ExtensionContext

/** The root of the repository. The tests run in the module's folder. */
val root: Path = Path.of("../..").toAbsolutePath().normalize()

/** Marks tests that need plugins. If there are none, the tests are skipped and the reason is printed. */
@Target(AnnotationTarget.CLASS) @ExtendWith(PluginsAreThere::class) annotation class NeedsPlugins

class PluginsAreThere : ExecutionCondition {
    override fun evaluateExecutionCondition(context: ExtensionContext): ConditionEvaluationResult {
        val why = Built.missing ?: return ConditionEvaluationResult.enabled("there are plugins")
        System.err.println("${context.displayName}: left out: $why")
        return ConditionEvaluationResult.disabled(why)
    }
}

/** The libraries and plugins that the tests use. */
object Built {
    private val mac = System.getProperty("os.name").startsWith("Mac")

    fun library(name: String): String = if (mac) "lib$name.dylib" else "lib$name.so"

    private val release: Path = root.resolve("native/target/release")
    private val folder: Path = Path.of("target/probes")
    private val fixtures: Path = root.resolve("ts/clearway-native/test/fixtures")

    /** Returns the path of an example plugin in a language. The plugin may not have been built. */
    fun example(language: String, name: String): Path =
        if (language == "c") root.resolve("native/plugins/c/build").resolve(library("clearway_${name}_c"))
        else release.resolve(library("clearway_${name}_rust"))

    val missing: String? by lazy {
        val host = release.resolve(library("clearway"))
        when {
            Runtime.version().feature() < 22 -> "this JDK has no java.lang.foreign"
            !Files.exists(host) -> "libclearway was not built: no Rust, or no `make native`"
            else -> {
                System.setProperty(Library.PROPERTY, host.toString())
                compile()
            }
        }
    }

    fun probe(name: String = "probe"): Path = folder.resolve(library(name)).toAbsolutePath()

    private fun compile(): String? {
        Files.createDirectories(folder)
        val probe = fixtures.resolve("probe.c")
        val made =
            mapOf(
                "probe" to listOf("$probe"),
                "refuses" to listOf("-DPROBE_REFUSES", "$probe"),
                "old" to listOf("-DPROBE_OLD", "$probe"),
                "none" to listOf("${fixtures.resolve("none.c")}"),
            )
        for ((name, given) in made) {
            val flags = listOf("cc", "-std=c11", "-D_GNU_SOURCE", "-O1", "-fPIC", "-shared", "-fvisibility=hidden")
            val include = listOf("-I", "${root.resolve("native/include")}")
            val command = flags + include + given + listOf("-o", "${probe(name)}", "-lpthread")
            val cc =
                try {
                    ProcessBuilder(command).inheritIO().start()
                } catch (_: java.io.IOException) {
                    return "no C compiler (cc)"
                }
            check(cc.waitFor() == 0) { "cc failed: $command" }
        }
        File("$folder/text.so").writeText("no library")
        return null
    }
}

fun open(options: PluginOptions = PluginOptions()): Plugin = Plugin.load(Built.probe(), options)

/** Runs a test with the probe plugin, and closes the plugin. */
fun probe(options: PluginOptions = PluginOptions(), test: (Plugin) -> Unit): Unit = open(options).use(test)

/** Returns numbers in the form that the probe plugin reads: 32 bits each, little-endian. */
fun int32s(vararg numbers: Int): ByteArray {
    val buffer = ByteBuffer.allocate(4 * numbers.size).order(ByteOrder.LITTLE_ENDIAN)
    for (number in numbers) buffer.putInt(number)
    return buffer.array()
}

fun numberIn(message: Message): Int =
    message.toByteArray()?.let { ByteBuffer.wrap(it).order(ByteOrder.LITTLE_ENDIAN).getInt(0) } ?: -1

/**
 * Returns the code of the PluginException that `run` throws or that caused its failure. Returns null if `run` throws
 * nothing. Throws any other exception.
 */
fun codeOf(run: () -> Unit): PluginErrorCode? {
    try {
        run()
    } catch (problem: Throwable) {
        val cause = if (problem is ExecutionException || problem is CompletionException) problem.cause else problem
        if (cause is PluginException) return cause.code
        throw problem
    }
    return null
}

/** Collects garbage until `done` returns true. */
fun collect(done: () -> Boolean) {
    while (!done()) {
        System.gc()
        Thread.yield()
    }
}

/** Returns the number of native memories that the process uses. */
fun live(plugin: Plugin): Long = plugin.stats().native.getValue("memories")

/**
 * Waits until no more memories are in use than before. Threads of native code may release their references a moment
 * later.
 */
fun backTo(before: Long, plugin: Plugin) {
    while (live(plugin) > before) Thread.yield()
}
