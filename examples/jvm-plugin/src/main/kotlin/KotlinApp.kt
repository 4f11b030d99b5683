// SPDX-License-Identifier: MIT OR Apache-2.0
import clearway.plugin.Plugin
import clearway.plugin.coroutines.awaitSend
import java.nio.file.Path

suspend fun main() {
    Plugin.load(Path.of("libshout.so").toAbsolutePath()).use { plugin -> // libshout.dylib on macOS
        plugin.channel("shout").awaitSend("hello from Kotlin".toByteArray()).use { answer ->
            println(answer.toByteArray()?.decodeToString())
        }
    }
}
