// SPDX-License-Identifier: MIT OR Apache-2.0
// Loads the plugin on the JVM and uses all its channels. README.md has the command.
import clearway.channel.codec.Codecs;
import clearway.plugin.ListenOptions;
import clearway.plugin.Message;
import clearway.plugin.Plugin;
import clearway.plugin.PluginEvents;
import clearway.plugin.PluginException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CompletionException;

public class Run {
    static byte[] encode(Object value) {
        return Codecs.STANDARD.encode(value);
    }

    static Object decode(Message message) {
        try (message) {
            return Codecs.STANDARD.decode(message.toByteArray());
        }
    }

    public static void main(String[] args) {
        try (Plugin plugin = Plugin.load(Path.of(args[0]))) {
            System.out.println(decode(plugin.channel("uppercase").call(encode("hello"))));
            Message answer = plugin.channel("count").send(encode(Map.of("text", "hello world"))).join();
            Map<?, ?> count = (Map<?, ?>) decode(answer);
            System.out.println("{words=" + count.get("words") + ", letters=" + count.get("letters") + "}");
            ListenOptions three = new ListenOptions().arguments(encode(Map.of("count", 3)));
            try (PluginEvents ticks = plugin.channel("ticks").listen(three)) {
                for (Message tick : ticks) System.out.println("tick " + decode(tick));
            }
            try {
                plugin.channel("count").send(encode(Map.of("text", ""))).join();
            } catch (CompletionException failed) {
                PluginException error = (PluginException) failed.getCause();
                System.out.println(error.getCode() + " " + error.getMessage());
            }
        }
    }
}
