// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin

import clearway.plugin.host.Status
import java.nio.file.Files
import java.nio.file.Path
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.condition.EnabledForJreRange
import org.junit.jupiter.api.condition.JRE

@NeedsPlugins
class LoadTest {
    @Test
    fun `a plugin is loaded several times`() {
        open().use { one ->
            open().use { two ->
                assertEquals(Built.probe(), one.path)
                one.close()
                assertTrue(two.channel("null").call().isNull)
            }
        }
    }

    @Test
    fun `a file that is not there, or is no library, is load-failed, and the message says why`() {
        val gone = assertThrows(PluginException::class.java) { Plugin.load(Path.of("/nowhere/at/all.so")) }
        assertEquals(PluginErrorCode.LOAD_FAILED, gone.code)
        assertTrue("nowhere" in gone.message.orEmpty())
        assertEquals(PluginErrorCode.LOAD_FAILED, codeOf { Plugin.load(Path.of("target/probes/text.so")) })
    }

    @Test
    fun `a library without an init is not-a-plugin, one for another ABI is wrong-version`() {
        assertEquals(PluginErrorCode.NOT_A_PLUGIN, codeOf { Plugin.load(Built.probe("none")) })
        assertEquals(PluginErrorCode.WRONG_VERSION, codeOf { Plugin.load(Built.probe("old")) })
    }

    @Test
    fun `a plugin whose init refuses is init-failed, with what it said`() {
        val problem = assertThrows(PluginException::class.java) { Plugin.load(Built.probe("refuses")) }
        assertEquals(PluginErrorCode.INIT_FAILED, problem.code)
        assertTrue("the probe refuses" in problem.message.orEmpty())
    }

    @Test
    fun `options out of their range are refused before anything is loaded`() {
        assertEquals(PluginErrorCode.INVALID_ARGUMENT, codeOf { PluginOptions().threads(0) })
        assertEquals(PluginErrorCode.INVALID_ARGUMENT, codeOf { PluginOptions().callsMax(0) })
        assertEquals(PluginErrorCode.INVALID_ARGUMENT, codeOf { PluginOptions().closeMs(-1) })
    }
}

class RuntimeTest {
    @Test
    @EnabledForJreRange(max = JRE.JAVA_21)
    fun `on a JVM before 22 loading is refused, and says what is needed`() {
        val problem = assertThrows(PluginException::class.java) { Plugin.load(Path.of("x.so")) }
        assertEquals(PluginErrorCode.ADDON_MISSING, problem.code)
        assertEquals("native plugins need JDK 22 or newer: this is ${Runtime.version().feature()}", problem.message)
    }

    @Test
    fun `the statuses are those of clearway_h, in order`() {
        val header = Files.readString(root.resolve("native/include/clearway.h"))
        for (status in Status.entries) {
            assertTrue("#define CLEARWAY_${status.name} ${status.ordinal}\n" in header, status.name)
        }
    }

    @Test
    fun `the codes are those of spec_errors, in order`() {
        val page = Files.readString(root.resolve("spec/errors.md")).substringAfter("## Native plugins")
        val codes = Regex("^\\| `([a-z-]+)` \\|", RegexOption.MULTILINE).findAll(page).map { it.groupValues[1] }
        assertEquals(codes.toList(), PluginErrorCode.entries.map { it.code })
    }
}
