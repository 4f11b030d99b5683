// SPDX-License-Identifier: MIT OR Apache-2.0
// Takes the steps of README.md from stdin, and prints the answer to each.
import clearway.plugin.ListenOptions;
import clearway.plugin.Memory;
import clearway.plugin.Message;
import clearway.plugin.NativeMemory;
import clearway.plugin.Payload;
import clearway.plugin.Plugin;
import clearway.plugin.PluginEvents;
import clearway.plugin.PluginException;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;

public class Steps {
    private static Plugin plugin;

    public static void main(String[] args) throws Exception {
        BufferedReader steps = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String step = steps.readLine(); step != null; step = steps.readLine()) System.out.println(answer(step));
    }

    private static String answer(String step) throws Exception {
        try {
            return run(step, step.split(" "));
        } catch (CompletionException failed) {
            return "error " + ((PluginException) failed.getCause()).getCode().getCode();
        } catch (PluginException failed) {
            return "error " + failed.getCode().getCode();
        }
    }

    private static String run(String step, String[] words) throws Exception {
        switch (words[0]) {
            case "open":
                plugin = Plugin.load(Path.of(step.substring("open ".length())));
                plugin.handle("echo/host", message -> message.isNull() ? null : Payload.of(message.toByteArray()));
                return "opened";
            case "call":
                return word(plugin.channel(words[1]).call(payload(words[2])));
            case "send":
                return word(plugin.channel(words[1]).send(payload(words[2])).join());
            case "attach":
                return withMemory(words[3], memory -> plugin.channel(words[1])
                        .send(payload(words[2]), List.<Memory>of(memory)));
            case "lend":
                return withMemory(words[2], memory -> plugin.channel(words[1]).send(memory));
            case "listen":
                return listen(words);
            case "close":
                plugin.close();
                return "closed";
            default:
                return "error " + words[0];
        }
    }

    /** Fills native memory, lets {@code send} use it, and returns the answer and the memory's bytes. */
    private static String withMemory(String word, Function<NativeMemory, CompletableFuture<Message>> send) {
        byte[] bytes = bytes(word);
        try (NativeMemory memory = plugin.allocate(bytes.length)) {
            memory.getSegment().copyFrom(MemorySegment.ofArray(bytes));
            String answer = word(send.apply(memory).join());
            return answer + " " + word(memory.getSegment().toArray(ValueLayout.JAVA_BYTE));
        }
    }

    private static String listen(String[] words) throws Exception {
        ListenOptions options = new ListenOptions().arguments(payload(words[2])).items(Integer.parseInt(words[3]));
        int from = Integer.parseInt(words[4]), to = Integer.parseInt(words[5]), count = Integer.parseInt(words[6]);
        int seen = 0, hash = 0x811c9dc5;
        long size = 0;
        try (PluginEvents events = plugin.channel(words[1]).listen(options)) {
            for (Message event = events.take(); event != null; event = events.take()) {
                byte[] bytes = event.toByteArray();
                event.close();
                size += bytes.length;
                for (int at = from; at < Math.min(to, bytes.length); at++) hash = (hash ^ (bytes[at] & 0xff)) * 0x01000193;
                if (++seen == count) break;
            }
        }
        return seen + " events, " + size + " bytes, " + Integer.toHexString(hash);
    }

    private static byte[] bytes(String word) {
        return word.equals("null") ? null : HexFormat.of().parseHex(word.substring(1));
    }

    private static Payload payload(String word) {
        byte[] bytes = bytes(word);
        return bytes == null ? null : Payload.of(bytes);
    }

    private static String word(byte[] bytes) {
        return bytes == null ? "null" : "x" + HexFormat.of().formatHex(bytes);
    }

    private static String word(Message message) {
        try (message) {
            return word(message.toByteArray());
        }
    }
}
