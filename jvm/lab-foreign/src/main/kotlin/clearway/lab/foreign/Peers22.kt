// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.foreign

import clearway.lab.channel.Caller
import clearway.lab.channel.Crossing
import clearway.lab.channel.Row
import clearway.lab.memory.Filler
import clearway.plugin.Memory
import clearway.plugin.Plugin
import clearway.plugin.PluginOptions
import java.lang.foreign.Arena
import java.nio.file.Path

/** Implements [ForeignPeers] with java.lang.foreign. The lab's runner loads this service once per process. */
public class Peers22 : ForeignPeers {
    override fun filler(mechanism: String, bytes: Int): Filler =
        when (mechanism) {
            "segment-fill" -> SegmentFill(bytes.toLong())
            "ffm" -> ByDowncall(bytes.toLong())
            "ffm-copied" -> ByCopies(bytes)
            "clearway-copied" -> PluginCopied(openPlugin(), bytes)
            "clearway-shared" -> inPlace(bytes) { plugin -> plugin.lend(Arena.ofAuto().allocate(bytes.toLong(), PAGE)) }
            "clearway-held" -> inPlace(bytes) { plugin -> plugin.allocate(bytes.toLong()) }
            else -> throw IllegalArgumentException("no such mechanism: $mechanism")
        }

    private fun <M> inPlace(bytes: Int, make: (Plugin) -> M): Filler where M : Memory, M : AutoCloseable {
        val plugin = openPlugin()
        return PluginInPlace(plugin, bytes) { make(plugin) }
    }

    override fun crossing(mechanism: String): Crossing =
        if (mechanism == "ffm") BySegments() else throw IllegalArgumentException("no such mechanism: $mechanism")

    override fun caller(mechanism: String, row: Row): Caller =
        if (mechanism == "clearway") PluginCaller(row)
        else throw IllegalArgumentException("no such mechanism: $mechanism")
}

/** Loads the example plugin in C. The caller closes it. */
internal fun openPlugin(options: PluginOptions = PluginOptions()): Plugin =
    Plugin.load(Path.of(System.getProperty("clearway.lab.plugin")), options)
