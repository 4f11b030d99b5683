// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin.host

import clearway.plugin.Plugin
import clearway.plugin.PluginErrorCode
import clearway.plugin.PluginException
import clearway.plugin.PluginOptions
import clearway.plugin.abi.Abi
import clearway.plugin.abi.Layout
import clearway.plugin.abi.Library
import java.lang.foreign.Arena
import java.lang.foreign.MemorySegment
import java.nio.file.Path

/**
 * Opens plugins. Throws `addon-missing` if the JDK is too old or denies native access, if libclearway is missing, or if
 * its ABI has another major version.
 */
internal object Loader {
    /** The first JDK release in which java.lang.foreign is no preview API. */
    private const val RELEASE_MIN = 22
    private const val ABI_MAJOR = 1
    /** Maximum size of an error text of the system's loader or of the plugin's log, in bytes. */
    private const val ERROR_BYTES = 4096L

    fun load(path: Path, options: PluginOptions): Plugin {
        val release = Runtime.version().feature()
        if (release < RELEASE_MIN) throw missing("native plugins need JDK $RELEASE_MIN or newer: this is $release")
        ready()
        return Opener.open(path, options)
    }

    private fun ready() {
        try {
            Library.symbols()
        } catch (problem: IllegalArgumentException) {
            val path = Library.configuredPath() ?: System.mapLibraryName("clearway")
            val how =
                "add the artifact clearway-native with the classifier ${Library.platform()}, or build the library with: " +
                    "cargo build --release -p clearway-abi, and name it by -D${Library.PROPERTY}=FILE"
            throw missing("libclearway is not there: $path: ${problem.message}; $how", problem)
        } catch (denied: IllegalCallerException) {
            throw missing("this JVM needs the option --enable-native-access: ${denied.message}", denied)
        }
        val version = Abi.version()
        if (version ushr 16 != ABI_MAJOR)
            throw missing("libclearway is of another version: ${version ushr 16}, not $ABI_MAJOR")
    }

    private fun missing(text: String, cause: Throwable? = null) =
        PluginException(PluginErrorCode.ADDON_MISSING, text, cause)

    /**
     * Opens a plugin after the checks. This is a separate object, because the JVM must not load a class of
     * java.lang.foreign before the check of the JDK's release.
     */
    object Opener {
        /** Opens a plugin. `decoding` and `reading` create the objects that decode and read its events. */
        fun open(
            path: Path,
            options: PluginOptions,
            decoding: (MemoryContext) -> Decoder = ::Decoder,
            reading: (PluginInstance) -> EventReader = ::EventReader,
        ): Plugin {
            val waiter = withScratch { scratch ->
                check(Abi.waiterNew(scratch.number), "waiter")
                scratch.number.get(Layout.LONG, 0)
            }
            var id = 0L
            try {
                id = Arena.ofConfined().use { opened(path, options, it) }
                check(Abi.waiterWatch(waiter, id), "waiter")
                val instance = PluginInstance(id, waiter, path.toString(), options, decoding)
                val reader = reading(instance)
                val plugin = Plugin(instance, reader, path)
                reader.start()
                return plugin
            } catch (problem: Throwable) {
                // Also after an Error, such as the OutOfMemoryError of a system that cannot start a thread.
                if (id != 0L) Abi.pluginFree(id)
                Abi.waiterFree(waiter)
                throw problem
            }
        }

        private fun opened(path: Path, options: PluginOptions, arena: Arena): Long {
            val limits = arena.allocate(Layout.OPTIONS_BYTES, 8)
            limits.set(Layout.LONG, Layout.OPTIONS_SIZE, Layout.OPTIONS_BYTES)
            limits.set(Layout.INT, Layout.OPTIONS_THREADS, options.threads)
            limits.set(Layout.INT, Layout.OPTIONS_CALLS, options.callsMax)
            limits.set(Layout.INT, Layout.OPTIONS_STREAMS, options.streamsMax)
            val id: MemorySegment = arena.allocate(8, 8)
            val errorText = arena.allocate(ERROR_BYTES)
            val status = Abi.pluginOpen(textOf(path.toString(), arena), limits, id, errorText, ERROR_BYTES)
            if (status != Status.OK_NUMBER) throw Status.error(status, path.toString(), errorText.getString(0))
            return id.get(Layout.LONG, 0)
        }
    }
}
