// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

import java.io.IOException
import java.util.concurrent.TimeUnit

/** A virtual display with a free number. Needs the program Xvfb. */
internal class VirtualDisplay private constructor(private val process: Process, val name: String) : AutoCloseable {
    override fun close() {
        process.destroy()
        if (!process.waitFor(10, TimeUnit.SECONDS)) process.destroyForcibly()
    }

    companion object {
        const val MISSING: String =
            "Xvfb is missing, so nothing was tested on a real Swing window. " +
                "Add it with: apt-get install -y --no-install-recommends xvfb"

        /** Opens a display. Returns null without Xvfb. Xvfb also ends on its own when its last window is closed. */
        fun open(): VirtualDisplay? {
            val command =
                listOf("Xvfb", "-displayfd", "1", "-screen", "0", "640x480x24", "-nolisten", "tcp", "-terminate")
            val process =
                try {
                    ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start()
                } catch (_: IOException) {
                    return null
                }
            val number = process.inputReader().readLine()
            if (number == null) {
                process.destroy()
                throw IOException("Xvfb opened no display: exit status ${process.waitFor()}")
            }
            return VirtualDisplay(process, ":${number.trim()}")
        }
    }
}
