// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;

@NeedsPlugins
class PluginJavaTest {
    @Test
    void readsWellFromJava() {
        try (Plugin plugin = Plugin.load(Built.INSTANCE.probe("probe"), new PluginOptions().views(ViewKind.CONFINED))) {
            PluginChannel echo = plugin.channel("echo");
            try (Message answer = echo.call(new byte[] {1, 2})) {
                assertArrayEquals(new byte[] {1, 2}, answer.toByteArray());
            }
            try (NativeMemory pixels = plugin.allocate(4096)) {
                plugin.channel("pool/fill").send(pixels).join();
                assertEquals(
                        pixels.getSegment().get(java.lang.foreign.ValueLayout.JAVA_BYTE, 0),
                        pixels.getBuffer().get(4095));
                echo.call(null, List.of(pixels)).close();
            }
            ByteBuffer mine = ByteBuffer.allocateDirect(1 << 20);
            LentMemory lent = plugin.lend(mine);
            assertSame(lent.getSegment(), echo.call(lent).getSegment());
            lent.close();
            lent.getReturned().join();
            int count = 0;
            ListenOptions options =
                    new ListenOptions().arguments(FixtureKt.int32s(5, 16, 0)).items(256);
            try (PluginEvents ticks = plugin.channel("ticks").listen(options)) {
                for (Message tick : ticks) count += (int) (tick.getSize() / 16);
            }
            assertEquals(5, count);
            PluginException problem = assertThrows(
                    PluginException.class, () -> plugin.channel("fail").call());
            assertEquals(PluginErrorCode.FAILED, problem.getCode());
        }
    }
}
