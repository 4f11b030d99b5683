// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin.host

import clearway.plugin.abi.Abi
import clearway.plugin.abi.Layout
import clearway.plugin.invalid
import java.lang.foreign.Arena
import java.lang.foreign.MemorySegment

/** A channel of a plugin in libclearway: its name as a clearway_text, and its number. */
internal class NativeChannel(val instance: PluginInstance, val name: String) {
    val text: MemorySegment = textOf(name, instance.arena)
    val number: Long

    init {
        val size = text.get(Layout.LONG, Layout.TEXT_SIZE)
        if (size !in 1..NAME_MAX) throw invalid("channel", "a name of 1 to $NAME_MAX bytes", name)
        number = withScratch { scratch ->
            instance.check(Abi.channelFind(instance.id, text, scratch.number), name)
            scratch.number.get(Layout.LONG, 0)
        }
    }

    private companion object {
        /** Maximum size of a name in bytes, as in clearway.h. */
        const val NAME_MAX = 256
    }
}

/** Returns a text as a clearway_text. The structure and the bytes live as long as the arena. */
internal fun textOf(text: String, arena: Arena): MemorySegment {
    val bytes = text.toByteArray(Charsets.UTF_8)
    val made = arena.allocate(Layout.TEXT_BYTES + bytes.size, 8)
    MemorySegment.copy(MemorySegment.ofArray(bytes), 0, made, Layout.TEXT_BYTES, bytes.size.toLong())
    made.set(Layout.LONG, Layout.TEXT_DATA, made.address() + Layout.TEXT_BYTES)
    made.set(Layout.LONG, Layout.TEXT_SIZE, bytes.size.toLong())
    return made
}
