// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.foreign

import clearway.lab.jni.Peers
import clearway.lab.memory.Filler
import java.nio.file.Files
import java.nio.file.Path
import java.util.ServiceLoader

/** Loads the mechanisms of [ForeignPeers], and says why one of them cannot run here. */
internal object Foreign {
    /**
     * The system property with the path of the example plugin. scripts/jvm-lab.mjs writes this path and the path of
     * libclearway to runner.json.
     */
    const val PLUGIN: String = "clearway.lab.plugin"
    private const val LIBRARY = "clearway.library"

    private const val RELEASE_MIN = 22

    val fillers: List<String> = listOf("ffm", "clearway-copied", "clearway-shared", "clearway-held")

    private val peers: ForeignPeers? by lazy {
        if (Runtime.version().feature() < RELEASE_MIN) null
        else ServiceLoader.load(ForeignPeers::class.java).findFirst().orElse(null)
    }

    /** Returns why a mechanism cannot run here and what to do, or null if it can. */
    fun problemOf(mechanism: String): String? =
        when {
            Runtime.version().feature() < RELEASE_MIN ->
                "java.lang.foreign came with JDK $RELEASE_MIN, and this is ${Runtime.version().feature()}: add a newer JDK, or name it with --jdk"
            peers == null ->
                "jvm/lab-foreign is not built: add a JDK $RELEASE_MIN or newer, then node scripts/jvm-lab.mjs"
            mechanism.startsWith("clearway") -> pluginProblem()
            mechanism.startsWith("ffm") -> Peers.problem()
            else -> null
        }

    private fun pluginProblem(): String? =
        listOf(PLUGIN to "C plugins", LIBRARY to "Rust plugins")
            .firstOrNull { (property, _) -> System.getProperty(property)?.let { Files.exists(Path.of(it)) } != true }
            ?.let { (_, stage) -> "not built: node scripts/native.mjs \"$stage\", which needs a C compiler and Rust" }

    fun filler(mechanism: String, bytes: Int): Filler = require(mechanism).filler(mechanism, bytes)

    private fun require(mechanism: String): ForeignPeers {
        val problem = problemOf(mechanism)
        check(problem == null) { problem.orEmpty() }
        return checkNotNull(peers)
    }
}

/**
 * The mechanisms that need java.lang.foreign. The module lab-foreign implements them as a service. It is compiled only
 * with a JDK that has java.lang.foreign, and is called only on JDK 22 and newer.
 */
public interface ForeignPeers {
    /**
     * Opens a mechanism that fills a buffer, by a name of [Foreign.fillers]. Throws if it cannot; the message names the
     * missing part.
     */
    public fun filler(mechanism: String, bytes: Int): Filler
}
