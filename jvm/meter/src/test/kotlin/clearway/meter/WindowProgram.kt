// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

import java.io.File

/** Runs a program with a window in a JVM of its own, because AWT reads the display from the JVM's environment. */
internal class WindowProgram(private val main: String) {
    /** Runs the program on a display of its own and returns its output. Returns null without Xvfb. */
    fun run(vararg args: String): String? =
        VirtualDisplay.open()?.use { display ->
            val java = File(System.getProperty("java.home"), "bin/java").path
            val command = listOf(java, "-Xmx256m", "-cp", System.getProperty("java.class.path"), main) + args
            val builder = ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT)
            builder.environment()["DISPLAY"] = display.name
            val process = builder.start()
            val said = process.inputReader().readText()
            check(process.waitFor() == 0) { "the window's program failed: $said" }
            said
        }
}
