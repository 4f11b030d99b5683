// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Assumptions;
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

    /** The example of docs/native.md. */
    @Test
    void theDocumentationsExampleDoesWhatItSays() {
        Path path = Built.INSTANCE.example("c", "example");
        Assumptions.assumeTrue(Files.exists(path), "the example plugin was not built");
        // #region plugin
        try (Plugin plugin = Plugin.load(path)) {
            PluginChannel echo = plugin.channel("echo"); // direct: its handler runs on this thread, inside the call
            assertArrayEquals(
                    new byte[] {1, 2, 3}, echo.call(new byte[] {1, 2, 3}).toByteArray());
            PluginChannel elsewhere = plugin.channel("echo/pool"); // on the plugin's own threads
            CompletableFuture<Message> later = elsewhere.send(new byte[] {4});

            PluginChannel memset = plugin.channel("memset/shared");
            try (NativeMemory pixels = plugin.allocate(1920 * 1080 * 4)) { // native memory, a MemorySegment here
                memset.call(Payload.of(new byte[] {7}), List.of(pixels)); // fills the attached memory
                assertEquals(7, pixels.getBuffer().get(0));
            } // access to its segments and buffers throws from now on; the native memory can be used again

            ByteBuffer mine = ByteBuffer.allocateDirect(1 << 20); // Java's memory, lent to the plugin
            LentMemory lent = plugin.lend(mine);
            memset.call(Payload.of(new byte[] {9}), List.of(lent));
            lent.close();
            lent.getReturned().join(); // native code no longer uses it
            assertEquals(9, mine.get(0));
            assertArrayEquals(new byte[] {4}, later.join().toByteArray());
        }
        // #endregion plugin
    }
}
