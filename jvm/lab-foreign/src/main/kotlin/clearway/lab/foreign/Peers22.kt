// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.foreign

import clearway.lab.channel.Caller
import clearway.lab.channel.Crossing
import clearway.lab.channel.Row
import clearway.lab.memory.Filler
import clearway.plugin.Plugin
import clearway.plugin.PluginOptions
import java.nio.file.Path

/** The service that module lab finds. Made once a process. */
public class Peers22 : ForeignPeers {
    override fun filler(mechanism: String, bytes: Int): Filler =
        when (mechanism) {
            "segment-fill" -> SegmentFill(bytes.toLong())
            "ffm" -> ByDowncall(bytes.toLong())
            "ffm-copied" -> ByCopies(bytes)
            "clearway-copied" -> PluginCopied(openPlugin(), bytes)
            "clearway-shared" -> PluginShared(openPlugin(), bytes.toLong())
            "clearway-held" -> PluginHeld(openPlugin(), bytes.toLong())
            else -> throw IllegalArgumentException("no such mechanism: $mechanism")
        }

    override fun crossing(mechanism: String): Crossing =
        if (mechanism == "ffm") BySegments() else throw IllegalArgumentException("no such mechanism: $mechanism")

    override fun caller(mechanism: String, row: Row): Caller =
        if (mechanism == "clearway") PluginCaller(row)
        else throw IllegalArgumentException("no such mechanism: $mechanism")
}

/** The example plugin in C, which the caller closes. */
internal fun openPlugin(options: PluginOptions = PluginOptions()): Plugin =
    Plugin.load(Path.of(System.getProperty("clearway.lab.plugin")), options)
