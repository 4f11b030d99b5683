// SPDX-License-Identifier: MIT OR Apache-2.0
import clearway.plugin.Message;
import clearway.plugin.Plugin;
import java.nio.file.Path;

public class App {
    public static void main(String[] args) {
        try (Plugin plugin = Plugin.load(Path.of("libshout.so").toAbsolutePath())) { // libshout.dylib on macOS
            byte[] text = "hello from Java".getBytes();
            try (Message answer = plugin.channel("shout").send(text).join()) { // runs on the plugin's threads
                System.out.println(new String(answer.toByteArray()));
            }
        }
    }
}
