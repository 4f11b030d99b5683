// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** Runs the example of docs/native.md. */
@NeedsPlugins
class ExampleJavaTest {
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
