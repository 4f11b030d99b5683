// SPDX-License-Identifier: MIT OR Apache-2.0
// Loads the plugin on the JVM and uses all its channels. README.md has the command.
import clearway.plugin.ListenOptions;
import clearway.plugin.Message;
import clearway.plugin.Plugin;
import clearway.plugin.PluginEvents;
import clearway.plugin.PluginException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.CompletionException;

public class Run {
    static ByteBuffer bytes(Message message) {
        try (message) {
            return ByteBuffer.wrap(message.toByteArray()).order(ByteOrder.nativeOrder());
        }
    }

    static byte[] encode(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    public static void main(String[] args) {
        try (Plugin plugin = Plugin.load(Path.of(args[0]))) {
            System.out.println(StandardCharsets.UTF_8.decode(bytes(plugin.channel("uppercase").call(encode("hello")))));
            ByteBuffer counts = bytes(plugin.channel("count").send(encode("hello world")).join());
            System.out.println("{words=" + counts.getInt() + ", letters=" + counts.getInt() + "}");
            byte[] three = ByteBuffer.allocate(4).order(ByteOrder.nativeOrder()).putInt(3).array();
            try (PluginEvents ticks = plugin.channel("ticks").listen(new ListenOptions().arguments(three))) {
                for (Message tick : ticks) System.out.println("tick " + bytes(tick).getInt());
            }
            try {
                plugin.channel("count").send(encode("")).join();
            } catch (CompletionException failed) {
                PluginException error = (PluginException) failed.getCause();
                System.out.println(error.getCode() + " " + error.getMessage());
            }
        }
    }
}
